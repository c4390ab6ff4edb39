"""The page of a chain: its VNFs put into an order by mouse or keyboard, and what the switch makes of it."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nfvbed.dashboard.access.origin import from_elsewhere
from nfvbed.dashboard.answers import page
from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.chain.reading import ChainReading, Chains, length_of
from nfvbed.dashboard.chain.view import ChainView
from nfvbed.dashboard.jobs.records import State
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.people.roles import Fields, Operator, Requester, current
from nfvbed.dashboard.problems import NotThereError, Problem, problem_of
from nfvbed.dashboard.results.parameters import Name
from nfvbed.errors import BusyError, NfvbedError, UsageError
from nfvbed.records.chain import ChainReport
from nfvbed.spec.layout import MAX_CHAIN
from nfvbed.spec.loader import Project

DEFAULT_SITE = "lab"
SiteName = Annotated[Name, Query(description="name in deploy/sites")]
Order = Annotated[str | None, Query(max_length=200, description="VNFs with commas, from port 0 to port 1")]
Length = Annotated[int | None, Query(ge=1, le=MAX_CHAIN, description="VNFs of a chain that is to be set up again")]


def chain_page(operations: Operations, chains: Chains) -> APIRouter:
    """Return the routes of the page, and of what it shows as JSON."""
    router = APIRouter(responses={**PROBLEMS, 409: PROBLEMS[404], 502: PROBLEMS[404]})
    project = operations.project

    @router.get("/chain", include_in_schema=False)
    def show_chain(
        request: Request, site: SiteName = DEFAULT_SITE, order: Order = None, length: Length = None
    ) -> Response:
        _require_site(project, site)
        view, problem, foreseen, refused = None, None, "", None
        reads = _may_read(request)
        try:
            draft = order is not None or length is not None
            found = chains.read(site, draft=draft) if reads else _read_before(chains, site)
            view = ChainView.of(found.report, found.at, order)
        except NfvbedError as error:
            problem = problem_of(error)
        if view is not None and length is not None and reads:
            foreseen, refused = _foreseen(chains, site, length)
        return page(
            "chain",
            "chain",
            export=False,
            title=_title(view),
            reads=reads,
            here="/chain",
            site=site,
            sites=project.site_names,
            view=view,
            problem=problem,
            length=length,
            foreseen=foreseen,
            refused=refused,
        )

    @router.get("/api/chain")
    def get_chain(request: Request, site: SiteName = DEFAULT_SITE) -> ChainReport:
        _require_site(project, site)
        found = chains.read(site) if _may_read(request) else _read_before(chains, site)
        return found.report

    return router


def chain_changes(operations: Operations, chains: Chains) -> APIRouter:
    """Return the routes by which operators change a path; every change is in the audit log."""
    router = APIRouter(include_in_schema=False)
    project, audit = operations.project, operations.audit

    def changed(asker: Requester, site: str, arguments: tuple[str, ...]) -> Response:
        with audit.action(asker, "start steer", f"nfvbed steer --site {site} {' '.join(arguments)}") as said:
            job = chains.change(site, arguments, asker.who)
            said.append(f"job {job.spec.id}")
        done = chains.awaited(job).state is State.DONE
        return RedirectResponse(f"/chain?site={site}" if done else f"/jobs/{job.spec.id}", 303)

    @router.post("/chain/order")
    def change_order(asker: Operator, fields: Fields) -> Response:
        site, order = _site_of(project, fields), _one(fields, "order")
        return changed(asker, site, (f"--order={order}",))

    @router.post("/chain/length")
    def change_length(asker: Operator, fields: Fields) -> Response:
        site, length = _site_of(project, fields), _one(fields, "length")
        if not length.isascii() or not length.isdigit() or not 1 <= int(length) <= MAX_CHAIN:
            fix = f"choose a number from 1 to {MAX_CHAIN}"
            raise UsageError("this is no length of a chain", where="length", observed=length[:40], fix=fix)
        if _one(fields, "agreed") != "yes":
            raise UsageError(
                "a chain of another length is set up again, and that is not agreed",
                where=f"site {site}, {length} VNFs",
                observed="the box was not ticked",
                fix="go back, read what is taken down, and tick it",
            )
        return changed(asker, site, (*length_of(int(length)), "--redeploy"))

    return router


def _may_read(request: Request) -> bool:
    """Return whether a path is read for who asks: an operator, whom no other site has led here."""
    return current().operates and not from_elsewhere(request.headers)


def _read_before(chains: Chains, site: str) -> ChainReading:
    """Return the path as an operator's page has read it.

    Raises:
        BusyError: no such page has read it.
        NfvbedError: the path could not be read; this is why.
    """
    found = chains.newest(site)
    if found is None:
        raise BusyError(
            "the path has not been read yet",
            where=f"site {site}",
            observed="to read it starts a program on this machine, which pages of operators alone do",
            fix="ask an operator to open this page, or press Read it as one",
        )
    return found


def _foreseen(chains: Chains, site: str, length: int) -> tuple[str, Problem | None]:
    try:
        return chains.foresee(site, length), None
    except NfvbedError as error:
        return "", problem_of(error)


def _title(view: ChainView | None) -> str:
    return "Chain" if view is None else f"Chain: port 0, {', '.join(view.report.path)}, port 1"


def _require_site(project: Project, site: str) -> None:
    if site not in project.site_names:
        raise NotThereError(
            "there is no such site",
            where=site,
            observed=f"there are {', '.join(project.site_names) or 'none'}",
            fix="choose one",
        )


def _site_of(project: Project, fields: dict[str, list[str]]) -> str:
    site = _one(fields, "site") or DEFAULT_SITE
    _require_site(project, site)
    return site


def _one(fields: dict[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0][:200]
