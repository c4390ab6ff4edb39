"""One deployment of one round: set up, measure its trials, take down."""

import contextlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from nfvbed.errors import (
    ConfigurationError,
    DeployError,
    GeneratorError,
    NfvbedError,
    OnboardError,
    PrerequisiteError,
    SwitchDiedError,
    TotalLossError,
    UnsupportedError,
    VnfDiedError,
)
from nfvbed.measure.warnings import ON_NICS, speeds_mbps
from nfvbed.plan.cells import CellPlan, DeploymentKey
from nfvbed.plan.plan import Plan, PlannedTrial, pending
from nfvbed.records import NEIGHBOUR, SESSIONS, Deployment, MissingPrerequisite, Preset, Sessions, Status
from nfvbed.run import requests
from nfvbed.run.kinds.celltest import RunContext
from nfvbed.run.ledger import Exclusion, RunLedger
from nfvbed.run.losses import next_step, nothing_came, total_loss
from nfvbed.run.neighbour import MeasuresBeside, beside
from nfvbed.run.observer import Observer
from nfvbed.run.setup import Setup
from nfvbed.run.testing import DeploymentLost, TestRunner
from nfvbed.run.tools import Tools
from nfvbed.sites.site import Site
from nfvbed.spec.options import IO_PATHS
from nfvbed.spec.variant import Variant
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.traffic.reopenable import ReopenableGenerator
from nfvbed.units import NS_PER_S

DIED = (GeneratorError, SwitchDiedError, VnfDiedError)
"""What ends a trial in its middle; the trial's row tells it."""

OF_THE_CELL = (OnboardError, VnfDiedError, TotalLossError)
"""What is the trouble of one cell's VNF, or of its frames, and says nothing about the other cells."""
OF_THE_VARIANT = (ConfigurationError, PrerequisiteError, DeployError, GeneratorError, SwitchDiedError)
"""What is the trouble of one data plane; a run that keeps going gives its cells up."""


class DeploymentRunner:
    """Serves deployments of one run."""

    def __init__(self, site: Site, plan: Plan, ledger: RunLedger, tools: Tools, observer: Observer) -> None:
        self._site = site
        self._plan = plan
        self._ledger = ledger
        self._tools = tools
        self._observer = observer
        self._tester = TestRunner(RunContext(plan, ledger, tools, observer))

    def serve(self, key: DeploymentKey, variant: Variant, trials: Sequence[PlannedTrial]) -> None:
        """Deploy, measure, take down.

        What the site cannot do is excluded. A cell is given up where its VNF failed, where no frame comes back, or
        where its VNFs need more than there is. A longer chain needs memory that a shorter one does not. Cells that were
        to follow one whose VNF failed are measured on a new deployment.

        Raises:
            PrerequisiteError (without VNFs), ConfigurationError, DeployError: nothing is deployed then.
            GeneratorError, SwitchDiedError: a trial failed; its row is written, nothing is deployed.
            None of these where the experiment keeps going: then the cells are given up.
        """
        left, variant = tuple(trials), variant.carrying(key.mtu)
        while left:
            self._observer.deployment_started(key, left[0].round)
            left = self._serve_once(key, variant, left)
            self._observer.deployment_ended(key)

    def _serve_once(
        self, key: DeploymentKey, variant: Variant, trials: tuple[PlannedTrial, ...]
    ) -> tuple[PlannedTrial, ...]:
        """Serve one deployment, and return the trials that need another one."""
        number, begun = trials[0].round, list[str]()
        cells = dict.fromkeys(trial.cell for trial in trials)
        try:
            with (
                self._deployed(key, variant, number) as deployment,
                self._generator(deployment, key, number) as open_,
                beside(self._site, deployment, self._plan.experiment.neighbour) as neighbour,
            ):
                measures = self._tools.measure_with(self._site, deployment, open_)
                measures = measures if neighbour is None else MeasuresBeside(measures, neighbour)
                setup = Setup(self._site, variant, deployment, measures, open_.hello(), open_, neighbour)
                for cell, group in groupby(trials, key=lambda trial: trial.cell):
                    begun.append(cell)
                    self._measure_cell(self._plan.cell_by_id[cell], variant, setup, tuple(group))
                if any(port.kind in ON_NICS for port in open_.ports):
                    # Their links are up now; a NIC that was just bound has no speed yet.
                    self._ledger.add_ports(key, number, speeds_mbps(open_.hello()))
        except DeploymentLost:
            left = pending(trials, self._ledger.done_keys)
            return tuple(trial for trial in left if trial.cell not in self._ledger.excluded)
        except UnsupportedError as error:
            for cell in cells:
                lacks = MissingPrerequisite.VNF if error.of_vnf else None
                why = Exclusion(Status.UNSUPPORTED, str(error), lacks)
                self._exclude(self._plan.cell_by_id[cell], variant, why)
        except (*OF_THE_CELL, *OF_THE_VARIANT) as error:
            if not self._is_given_up(error, key):
                raise
            # One that never came up would not for the deployment's other cells either.
            for cell in begun[-1:] or cells:
                self._give_up(self._plan.cell_by_id[cell], variant, error)
            return tuple(trial for trial in trials if begun and trial.cell not in begun)
        return ()

    def _is_given_up(self, error: NfvbedError, key: DeploymentKey) -> bool:
        """Return whether an error is the end of its cells only, and not of the run."""
        if isinstance(error, OF_THE_CELL) or self._plan.experiment.keep_going:
            return True
        return isinstance(error, PrerequisiteError) and bool(key.vnf)

    @contextlib.contextmanager
    def _deployed(self, key: DeploymentKey, variant: Variant, number: int) -> Iterator[Deployment]:
        clock = self._tools.clock
        began = clock()
        deployment = self._site.deploy(variant, key.topology, key.role, vnf=self._plan.choice(key))
        try:
            self._ledger.add_deployment(key, number, deployment, clock() - began)
            yield deployment
        finally:
            began = clock()
            self._site.destroy(deployment)
        self._ledger.add_fact(key, number, "destroy", clock() - began)

    @contextlib.contextmanager
    def _generator(self, deployment: Deployment, key: DeploymentKey, number: int) -> Iterator[ReopenableGenerator]:
        began = self._tools.clock()
        generator = ReopenableGenerator(lambda: self._site.open_generator(deployment))
        try:
            self._ledger.add_fact(key, number, "generator", self._tools.clock() - began)
            yield generator
        finally:
            generator.close()

    def _measure_cell(self, cell: CellPlan, variant: Variant, setup: Setup, trials: Sequence[PlannedTrial]) -> None:
        reason = requests.misfit(self._plan.experiment, cell, setup.info)
        if reason:
            self._exclude(cell, variant, Exclusion(Status.UNSUPPORTED, reason))
            return
        config = self._ledger.put_blob("variant", described(variant, cell, setup.deployment.versions))
        sessions = self._plan.experiment.traffic.sessions_in(cell.topology)
        rig = with_sessions(self._site.rig(setup.deployment), sessions)
        rig |= {} if setup.neighbour is None else {NEIGHBOUR: setup.neighbour.described()}
        self._ledger.register(cell, config, self._ledger.put_blob("rig", rig))
        warm_up = requests.warm_up(self._plan.experiment, cell)
        for index, trial in enumerate(trials):
            with self._failure_reported(trial, setup):
                if index == 0 and warm_up is not None:
                    setup.measures.warm_up(warm_up)
                for _ in range(self._ledger.trials_left(trial) if trial.is_trial else 0):
                    self._measure(trial, cell, setup)
            if not trial.is_trial:
                self._tester.test(trial, cell, setup)

    def _measure(self, trial: PlannedTrial, cell: CellPlan, setup: Setup) -> None:
        request = self._request(cell, trial)
        self._observer.trial_started(trial, request.duration_ns / NS_PER_S)
        record = setup.measures.measure(self._ledger.task(trial, request, setup.site.renews))
        nothing = nothing_came([record])
        if nothing:
            record = record.model_copy(update={"status": Status.FAILED, "reason": nothing})
        self._ledger.add_trial(record)
        self._observer.trial_ended(record)
        if nothing:
            raise total_loss(self._plan, cell, nothing, self._site)

    @contextlib.contextmanager
    def _failure_reported(self, trial: PlannedTrial, setup: Setup) -> Iterator[None]:
        try:
            yield
        except DIED as error:
            self._ledger.add_failure(trial, setup.info.engine, error)
            if not isinstance(error, OF_THE_CELL):
                self._ledger.fail_cell(trial.cell, str(error))
            raise

    def _request(self, cell: CellPlan, trial: PlannedTrial) -> TrafficRequest:
        if trial.preset is Preset.MRR:
            return requests.maximum(self._plan.experiment, cell)
        fix = next_step(self._plan, cell, self._site)
        if trial.preset is Preset.COMMON:
            excluded = self._ledger.excluded
            partners = [other for other in self._plan.compared.get(cell.point, ()) if other not in excluded]
            return requests.common(self._plan.experiment, cell, partners, self._ledger.trials, fix)
        return requests.paced(self._plan.experiment, cell, self._ledger.trials, self._tools.classify, fix)

    def _exclude(self, cell: CellPlan, variant: Variant, why: Exclusion) -> None:
        config = self._ledger.put_blob("variant", described(variant, cell, {}))
        self._ledger.exclude_cell(cell, config, why)
        self._observer.cell_excluded(cell.id, why.reason)

    def _give_up(self, cell: CellPlan, variant: Variant, error: NfvbedError) -> None:
        config = self._ledger.put_blob("variant", described(variant, cell, {}))
        self._ledger.give_up(cell, config, error)
        self._observer.cell_excluded(cell.id, str(error))


def with_sessions(rig: dict[str, Any], sessions: Sessions) -> dict[str, Any]:
    """Return a rig's description with the form of its traffic's sessions.

    Unreplied ones are left out: rigs from before there was a choice had them, and have the hash that they had.
    """
    return rig if sessions is Sessions.UNREPLIED else {**rig, SESSIONS: sessions.value}


def described(variant: Variant, cell: CellPlan, versions: dict[str, str]) -> dict[str, object]:
    """Return what the configuration hash stands for: the variant as resolved, with the versions under test.

    Its ports are named where few have them set so, and its I/O path where the kind of its ports leaves it open:
    comparisons match ceilings by that (`RunData.ports`, `RunData.io_paths`).
    """
    reported: dict[str, object] = {"role": cell.role.value, "variant": variant, "versions": versions}
    if variant.ports != variant.port_kind.value:
        reported["ports"] = variant.ports
    io_path = variant.io_path(cell.role)
    if io_path != IO_PATHS.get(variant.port_kind):
        reported["io_path"] = io_path
    return reported
