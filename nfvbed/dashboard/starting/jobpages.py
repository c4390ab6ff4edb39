"""Pages and routes of jobs: choose, see the plan, start, watch, cancel."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Path, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nfvbed.dashboard.access.origin import from_elsewhere
from nfvbed.dashboard.answers import page
from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.commands import error_of
from nfvbed.dashboard.jobs.records import Job, State
from nfvbed.dashboard.live import Streams
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.people.roles import Fields, Operator, Requester
from nfvbed.dashboard.problems import NotThereError, Problem, problem_of
from nfvbed.dashboard.rendering import render
from nfvbed.dashboard.results.doctor import DoctorReport, printed
from nfvbed.dashboard.results.progress import Plans, live_of
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.dashboard.results.source import Source
from nfvbed.dashboard.starting.choices import Choices, Experiments, choices_of
from nfvbed.dashboard.starting.on_site import changes_of, confirmation, refusals, require
from nfvbed.dashboard.starting.planning import Planner, PlanView
from nfvbed.dashboard.starting.starting import Action, RunChoices, arguments_of
from nfvbed.errors import BusyError, UsageError
from nfvbed.records import Record, RunRecord

SHOWN: Final = 50
LOG: Final = 32_768
"""Bytes of a log on a page."""
FRESH_S: Final = 1.0
"""How long what there is to choose answers who asks again: all files of the project are read for it."""
PATIENCE_S: Final = 60
"""After so long a job that was asked to end is late."""
JobName = Annotated[str, Path(pattern=r"^[0-9-]{22}$")]
SiteTyped = Annotated[str, Query(max_length=64, description="name of the site, for `destroy` where a whole cloud goes")]


class JobsAnswer(Record):
    """Newest jobs, newest first."""

    jobs: tuple[Job, ...]


class JobAnswer(Record):
    """A job, and the end of its log."""

    job: Job
    log: str
    problem: Problem | None = None
    """Problem that the job failed with."""
    report: DoctorReport | None = None
    """Report of the doctor, where it examined the site."""


class StartAnswer(Record):
    """What there is to choose from, and what the choice would do."""

    wanted: RunChoices
    choices: Choices
    plan: PlanView | None


@dataclass(frozen=True)
class JobForm:
    """A button that was pressed."""

    action: str
    wanted: RunChoices
    run: str = ""
    """Id of the run to go on with."""
    confirmed: str = ""
    """Name of the site that was typed beside it."""
    evict: bool = False
    """Whether what others have on a cloud that goes may go with it."""


class JobOperations:
    """What routes of jobs do; they have operators alone."""

    def __init__(self, operations: Operations, source: Source, streams: Streams, plans: Plans) -> None:
        self.operations = operations
        self.source = source
        self.streams = streams
        self._plans = plans
        self._planner = Planner(operations.jobs, operations.project)
        self._experiments = Experiments(operations.project)
        self._choices: SharedReadings[Choices] = SharedReadings("what there is to choose", FRESH_S)

    def start(self, pressed: JobForm, asker: Requester) -> Job:
        """Start a job, and log who asked for it.

        Raises:
            UsageError: there is no such action, the choice lacks something, or it was not confirmed.
            UnsupportedError: the site cannot do the action.
            BusyError: another job runs on this site.
            StoreError: the start cannot be logged.
        """
        action, site = pressed.action, self.operations.project.load_site(pressed.wanted.site)
        if action not in tuple(Action):
            raise UsageError("there is no such action", observed=repr(action[:40]), fix=f"one of {', '.join(Action)}")
        known = Action(action)
        require(known, site)
        arguments = arguments_of(known, pressed.wanted, pressed.run)
        name = "run" if known is Action.RESUME else known.value
        with self.operations.audit.action(asker, f"start {known.value}", f"nfvbed {' '.join(arguments)}") as said:
            arguments += confirmation(known, site, pressed.confirmed, evict=pressed.evict)
            job = self.operations.jobs.start(name, site.name, arguments, asker.who, document=known is Action.EXAMINE)
            said.append(f"job {job.spec.id}")
        return job

    def cancel(self, name: str, asker: Requester) -> Job:
        """Ask a job to end.

        Raises:
            UsageError: the job does not run.
        """
        self.job(name)
        with self.operations.audit.action(asker, "cancel", f"job {name}"):
            return self.operations.jobs.cancel(name, asker.who)

    def job(self, name: str) -> Job:
        """Return a job.

        Raises:
            NotThereError: there is no job of this id.
        """
        job = self.operations.jobs.job(name)
        if job is None:
            raise NotThereError("there is no such job", where=name, fix="see /jobs")
        return job

    def shown(self, name: str) -> dict[str, Any]:
        """Return what the part of a job's page that changes shows."""
        job = self.job(name)
        asked = datetime.fromisoformat(job.cancelled.at) if job.cancelled and job.is_alive else None
        late_s = int((datetime.now(UTC) - asked).total_seconds()) if asked else 0
        late = late_s if late_s > PATIENCE_S else 0
        log = self.operations.jobs.log(name, LOG)
        examined = job.spec.action == Action.EXAMINE and not job.is_alive
        measured = self._measured(job)
        return {
            "job": job,
            "measured": measured,
            "live": live_of(self.source, self._plans, measured) if measured is not None and job.is_alive else None,
            "log": log,
            "late": late,
            "problem": _problem(job, log),
            "report": printed(self.operations.jobs.output(name)) if examined else None,
        }

    def _measured(self, job: Job) -> RunRecord | None:
        """Return the run that a job measures; None: it has begun none, or the store does not have it."""
        if not job.run:
            return None
        try:
            return self.source.run(job.run)
        except NotThereError:
            return None

    def offered_after(self, job: Job) -> dict[str, Any]:
        """Return the actions on the site of a job that has ended; a job that runs can only be cancelled.

        Raises:
            ConfigurationError: the site's file is not valid any more.
        """
        project = self.operations.project
        if job.is_alive or job.spec.site not in project.site_names:
            return {"refused": {}, "whole_cloud": False}
        site = project.load_site(job.spec.site)
        return {"refused": refusals(site), "whole_cloud": site.is_whole_cloud}

    def offer(self, wanted: RunChoices, *, planned: bool) -> tuple[StartAnswer, str]:
        """Return what there is to choose, and why there is no plan where one was asked for."""
        operations = self.operations
        choices = self._choices.read(wanted, lambda: choices_of(operations, self.source, self._experiments, wanted))
        plan, hint = None, ""
        if planned and not (wanted.experiment or wanted.variants or wanted.vnf):
            hint = "Choose an experiment, a variant to deploy, or a VNF to onboard."
        elif planned:
            try:
                plan = self._planner.plan(wanted)
            except (BusyError, UsageError) as error:
                seen = " ".join(part for part in (error.where, error.observed) if part)
                hint = f"{error.what}{f' ({seen})' if seen else ''}: {error.fix}"
        return StartAnswer(wanted=wanted, choices=choices, plan=plan), hint


def pages_of_jobs(desk: JobOperations) -> APIRouter:
    """Return the routes of pages, for operators."""
    router = APIRouter(include_in_schema=False)
    jobs = desk.operations.jobs

    @router.get("/start")
    def show_start(asker: Operator, request: Request) -> Response:
        asked = "plan" in request.query_params
        own = not from_elsewhere(request.headers)
        typed = _query(request)
        choice, wrong = RunChoices.corrected(typed, desk.operations.project)
        offer, hint = desk.offer(choice, planned=asked and own and not wrong)
        if asked and not own:
            hint = "Another site led here; press Show the plan to have it made."
        wanted, project = offer.wanted, desk.operations.project
        site = project.load_site(wanted.site)
        shown = {"wanted": wanted, "choices": offer.choices, "plan": offer.plan, "hint": hint}
        fields = {"wrong": wrong, "typed": {name: " ".join(typed[name]) for name in wrong}}
        of_site = {
            "changes": changes_of(project, wanted), "refused": refusals(site), "whole_cloud": site.is_whole_cloud
        }  # fmt: skip
        answer = page(
            "start", "start", export=False, title="Start", here="/start", **shown, **fields, **of_site,
            alive=jobs.alive(),
        )  # fmt: skip
        answer.status_code = 422 if wrong else 200
        return answer

    @router.get("/jobs")
    def show_jobs(asker: Operator) -> Response:
        return page("jobs", "jobs", export=False, title="Jobs", here="/start", found=jobs.newest(SHOWN))

    @router.get("/jobs/{name}")
    def show_job(asker: Operator, name: JobName) -> Response:
        offered = desk.offered_after(desk.job(name))
        return page("job", "job", export=False, title="Job", here="/start", **desk.shown(name), **offered)

    @router.get("/jobs/{name}/events")
    def send_job(asker: Operator, name: JobName, request: Request) -> Response:
        desk.job(name)

        def part() -> tuple[str, bool]:
            shown = desk.shown(name)
            return render("job-state", **shown), not desk.job(name).is_alive

        return desk.streams.follow(request, part)

    return router


def forms_of_jobs(desk: JobOperations) -> APIRouter:
    """Return the routes to which forms are sent."""
    router = APIRouter(prefix="/jobs", include_in_schema=False)

    @router.post("")
    def start(asker: Operator, fields: Fields) -> Response:
        wanted = RunChoices.of(fields, desk.operations.project)
        confirmed, evict = _one(fields, "confirmed"), _one(fields, "evict") == "yes"
        return _to(desk.start(JobForm(_one(fields, "action"), wanted, confirmed=confirmed, evict=evict), asker))

    @router.post("/{name}/cancel")
    def cancel(asker: Operator, name: JobName) -> Response:
        return _to(desk.cancel(name, asker))

    @router.post("/{name}/after")
    def go_on(asker: Operator, name: JobName, fields: Fields) -> Response:
        job = desk.job(name)
        wanted = RunChoices.of({"site": [job.spec.site]}, desk.operations.project)
        action = _one(fields, "action")
        if action == Action.RESUME and not job.run:
            raise UsageError("this job has no run to go on with", where=f"job {name}", fix="start one")
        confirmed, evict = _one(fields, "confirmed"), _one(fields, "evict") == "yes"
        return _to(desk.start(JobForm(action, wanted, job.run, confirmed, evict), asker))

    return router


def api_of_jobs(desk: JobOperations) -> APIRouter:
    """Return the routes of the API, for operators."""
    router = APIRouter(prefix="/api", responses={**PROBLEMS, 409: PROBLEMS[400]})

    @router.get("/start")
    def get_start(asker: Operator, request: Request) -> StartAnswer:
        wanted = RunChoices.of(_query(request), desk.operations.project)
        planned = "plan" in request.query_params and not from_elsewhere(request.headers)
        offer, hint = desk.offer(wanted, planned=planned)
        if hint:
            raise BusyError("there is no plan", observed=hint, fix="try again later")
        return offer

    @router.get("/jobs")
    def get_jobs(asker: Operator) -> JobsAnswer:
        return JobsAnswer(jobs=desk.operations.jobs.newest(SHOWN))

    @router.get("/jobs/{name}")
    def get_job(asker: Operator, name: JobName) -> JobAnswer:
        shown = desk.shown(name)
        return JobAnswer(job=shown["job"], log=shown["log"], problem=shown["problem"], report=shown["report"])

    @router.post("/jobs/{name}/cancel")
    def cancel_job(asker: Operator, name: JobName) -> Job:
        return desk.cancel(name, asker)

    @router.post("/jobs/{action}", status_code=201)
    def start_job(
        asker: Operator, action: Action, wanted: Annotated[RunChoices, Body()], run: str = "",
        confirmed: SiteTyped = "", evict: bool = False,
    ) -> Job:  # fmt: skip
        fields = {
            "site": [wanted.site], "variant": wanted.variants, "vnf": [wanted.vnf], "kind": [wanted.kind],
            "flavor": [wanted.flavor], "experiment": [wanted.experiment], "topology": [wanted.topology],
            "sizes": [" ".join(wanted.sizes)], "purpose": [wanted.purpose], "rounds": [wanted.rounds],
            "budget": [wanted.budget], "limit": [wanted.limit], "set": wanted.settings, "ceilings": [wanted.ceilings],
        }  # fmt: skip
        checked = RunChoices.of(fields, desk.operations.project)
        known = desk.source.run(run).id if action is Action.RESUME else ""
        return desk.start(JobForm(action, checked, known, confirmed, evict), asker)

    return router


def _problem(job: Job, log: str) -> Problem | None:
    """Return what a job failed with, out of its log."""
    if job.state is not State.FAILED or job.ended is None:
        return None
    return problem_of(error_of(job.ended.status, log, " ".join(job.spec.arguments)))


def _query(request: Request) -> dict[str, Sequence[str]]:
    return {name: request.query_params.getlist(name)[:64] for name in request.query_params}


def _one(fields: dict[str, list[str]], name: str) -> str:
    return next(iter(fields.get(name, ())), "")


def _to(job: Job) -> Response:
    return RedirectResponse(f"/jobs/{job.spec.id}", 303)
