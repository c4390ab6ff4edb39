"""Cells with VNFs go through a run as those without: deployed with them, stored with their steps, resumed with them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nfvbed.compare.agreement import outcomes_of
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError, OnboardError, PrerequisiteError, UnsupportedError, VnfDiedError
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import Accelerator, CellRole, Deployment, QualityWarning, Status, TrialRecord
from nfvbed.run.runner import failure_of
from nfvbed.run.tools import Tools
from nfvbed.spec.rules import Study
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.store import Store
from tests.unit.run.simulated_runs import WatchedSite, classify_all_alike, keys, runner

PROJECT = open_project(Path(__file__).parents[3])


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "x.sqlite") as store:
        yield store


@pytest.fixture(name="study")
def _study(tmp_path: Path) -> Study:
    path = tmp_path / "trial.yml"
    path.write_text(
        "name: trial\ntitle: A trial\nvariants: [simulated]\nframe_sizes: [64]\ntopologies: [p2p, pvp]\n"
        "vnfs: [{forwarding: native}, {forwarding: macswap}]\nrepetitions: {needed: 2, max_rounds: 3}\n"
        "trials: {mrr_trials: 1}\n"
    )
    return PROJECT.load_study(path)


class Onboarding(WatchedSite):
    """Remembers which VNF was asked for."""

    def __init__(self, offset: int = 0, failure: NfvbedError | None = None) -> None:
        super().__init__(offset)
        self.asked: list[tuple[CellRole, str, str]] = []
        self.failure = failure

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        self.asked.append((role, topology, vnf.label if vnf else ""))
        if self.failure is not None and vnf is not None and role is CellRole.SUBJECT:
            raise self.failure
        return super().deploy(variant, topology, role, vnf)


def test_every_deployment_is_asked_for_its_vnf(store: Store, study: Study) -> None:
    site = Onboarding()
    run = runner(store, lambda _: site).start(study)
    assert run.status is Status.OK
    assert set(site.asked) == {
        (CellRole.LOOPBACK, "p2p", ""),
        (CellRole.REFERENCE, "p2p", ""),
        (CellRole.VNF, "pvp", "process-macswap"),
        (CellRole.SUBJECT, "p2p", ""),
        (CellRole.SUBJECT, "pvp", "native"),
        (CellRole.SUBJECT, "pvp", "process-macswap"),
    }
    cells = {cell.id: (cell.vnf, cell.vnf_resolved) for cell in store.cells(run.id)}
    assert cells["simulated/pvp+native/64"] == ("native", "process-io")
    assert cells["simulated/p2p/64"] == ("", "")


def test_the_rig_has_the_vnf(store: Store, study: Study) -> None:
    run = runner(store, Onboarding).start(study)
    rigs = {cell.id: store.get_blob(cell.rig_hash) for cell in store.cells(run.id)}
    assert rigs["simulated/pvp+process-macswap/64"]["vnf"]["forwarding"] == "macswap"
    assert "vnf" not in rigs["simulated/p2p/64"]


def test_the_steps_of_vnfs_are_facts(store: Store, study: Study) -> None:
    run = runner(store, Onboarding).start(study)
    facts = [fact for fact in store.facts(run.id) if fact.step == "onboard.start"]
    assert {(fact.detail["vnf"], fact.detail["name"]) for fact in facts} >= {("native", "vnf1")}
    assert {fact.detail["accelerator"] for fact in facts} == {"none"}


def test_every_step_is_stored_with_one_prefix(store: Store, study: Study) -> None:
    class Timed(Onboarding):
        def deploy(self, *arguments: Any, **named: Any) -> Deployment:
            done = super().deploy(*arguments, **named)
            # As adapters name their steps, as a site without a prefix would, and as VNFs' steps come.
            steps = (("deploy.switch", 1), ("links", 2), ("onboard.probe", 3))
            return done.model_copy(update={"steps": steps})

    run = runner(store, Timed).start(study)
    steps = {fact.step for fact in store.facts(run.id)}
    assert steps >= {"deploy.switch", "deploy.links", "onboard.probe", "onboard.start"}
    assert not [step for step in steps if step.count("deploy.") + step.count("onboard.") > 1]


def dying(*at: int, cell: str = "") -> Tools:
    """Measure until the VNF dies: in the trials of these numbers, or always in one cell."""

    class Dying(Measurement):
        def measure(self, task: TrialTask) -> TrialRecord:
            if task.sequence in at or task.cell == cell:
                raise VnfDiedError("vnf1 ended", observed="exit status 139")
            return super().measure(task)

    return Tools(measure_with=Dying, classify=classify_all_alike)


def test_a_cell_whose_vnf_died_is_given_up_and_the_others_go_on(store: Store, study: Study) -> None:
    whole = runner(store, Onboarding).start(study)
    # The ceilings of the ports have two trials in the first round, p2p two; then the first trial of pvp+native.
    site = Onboarding()
    run_it = runner(store, lambda _: site, tools=dying(5))
    run = run_it.start(study)
    cells = {cell.id: cell for cell in store.cells(run.id)}
    (failed,) = [trial for trial in store.trials(run.id) if trial.status is Status.FAILED]
    assert "exit status 139" in failed.reason
    assert run.status is Status.FAILED
    assert run.reason.startswith(f"{failed.cell} was given up: vnf1 ended")
    assert cells[failed.cell].status is Status.FAILED
    assert "exit status 139" in cells[failed.cell].reason
    assert {cell.status for cell in cells.values() if cell.id != failed.cell} == {Status.OK}
    others = {key for key in keys(store.trials(whole.id)) if key[1] != failed.cell}
    assert set(keys(store.trials(run.id))) == others
    assert run_it.failure is not None
    assert (run_it.failure.exit_code, run_it.failure.where) == (22, failed.cell)
    assert not site.running


def test_a_resumed_run_has_the_vnfs_that_it_began_with_and_tries_again_what_was_given_up(
    store: Store, study: Study
) -> None:
    run = runner(store, Onboarding, tools=dying(5)).start(study)
    site = Onboarding(5)
    again = runner(store, lambda _: site)
    resumed = again.resume(run)
    assert (resumed.status, again.failure) == (Status.OK, None)
    assert {cell.status for cell in store.cells(run.id)} == {Status.OK}
    assert {asked[1:] for asked in site.asked} == {("pvp", "native")}


def test_rows_of_earlier_rounds_stay(store: Store, study: Study) -> None:
    dead = "simulated/pvp+native/64"
    first = [t.sequence for t in store.trials(runner(store, Onboarding).start(study).id) if t.cell == dead]
    run = runner(store, Onboarding, tools=dying(first[2])).start(study)
    assert [t.status for t in store.trials(run.id, dead)] == [Status.OK, Status.OK, Status.FAILED]


def test_cells_that_would_have_followed_are_measured_on_a_new_deployment(store: Store, study: Study) -> None:
    sizes = study.experiment.model_copy(update={"frame_sizes": (64, 512, 1518), "ceilings": False})
    site = Onboarding()
    run = runner(store, lambda _: site, tools=dying(cell="simulated/pvp+native/512")).start(
        replace(study, experiment=sizes)
    )
    status = {cell.id.removeprefix("simulated/"): cell.status for cell in store.cells(run.id)}
    assert {name for name, found in status.items() if found is not Status.OK} == {"pvp+native/512"}
    assert len(store.trials(run.id, "simulated/pvp+native/512")) == 1, "never tried again"
    # Two rounds, and one more deployment after the VNF had died.
    assert site.asked.count((CellRole.SUBJECT, "pvp", "native")) == 3


def test_a_run_with_no_cell_left_ends(store: Store, study: Study) -> None:
    alone = study.experiment.model_copy(update={"topologies": ("pvp",), "vnfs": study.experiment.vnfs[:1]})
    run_it = runner(store, Onboarding, tools=dying(cell="simulated/pvp+native/64"))
    run = run_it.start(replace(study, experiment=alone))
    assert run.status is Status.FAILED
    assert run_it.failure is not None
    assert run_it.failure.exit_code == 22
    assert {trial.round for trial in store.trials(run.id)} == {1}, "ceilings of nothing are not measured"


def test_a_vnf_that_cannot_be_onboarded_takes_its_cells_alone(store: Store, study: Study) -> None:
    site = Onboarding(failure=OnboardError("vnf1 never said that it is up"))
    run_it = runner(store, lambda _: site)
    run = run_it.start(study)
    cells = {cell.id: cell for cell in store.cells(run.id)}
    assert run.status is Status.FAILED
    assert cells["simulated/p2p/64"].status is Status.OK
    for label in ("native", "process-macswap"):
        assert cells[f"simulated/pvp+{label}/64"].status is Status.FAILED
        assert "never said" in cells[f"simulated/pvp+{label}/64"].reason
        assert site.asked.count((CellRole.SUBJECT, "pvp", label)) == 1
    assert run_it.failure is not None
    assert run_it.failure.exit_code == 21
    assert "2 cells were given up" in run_it.failure.what
    assert not site.running


def test_a_chain_that_needs_more_than_there_is_takes_its_cells_alone(store: Store, study: Study) -> None:
    run_it = runner(store, lambda _: Onboarding(failure=PrerequisiteError("too few hugepages", fix="free some")))
    run = run_it.start(study)
    status = {cell.id: cell.status for cell in store.cells(run.id)}
    assert status["simulated/p2p/64"] is Status.OK
    assert status["simulated/pvp+native/64"] is Status.FAILED
    assert run_it.failure is not None
    assert run_it.failure.exit_code == 20, "all else was measured: the run had what it needs to begin"


class WithoutImage(Onboarding):
    """Lacks a file of one of the VNFs."""

    def missing(self, topology: str, choice: VnfChoice) -> str:
        return f"the VNF cannot run here: no image ({topology})" if choice.forwarding == "macswap" else ""


def test_cells_whose_vnf_lacks_its_image_are_excluded_before_anything_is_deployed(store: Store, study: Study) -> None:
    site = WithoutImage()
    run = runner(store, lambda _: site).start(study)
    cells = {cell.id: cell for cell in store.cells(run.id)}
    lost = cells.pop("simulated/pvp+process-macswap/64")
    assert (lost.status, lost.reason) == (Status.UNSUPPORTED, "the VNF cannot run here: no image (pvp)")
    assert cells.pop("vnf:simulated/pvp+process-macswap/64").status is Status.UNSUPPORTED
    assert {cell.status for cell in cells.values()} == {Status.OK}
    assert run.status is Status.OK
    assert "process-macswap" not in {label for _, _, label in site.asked}


def test_a_run_of_nothing_but_such_cells_is_unsupported(store: Store, study: Study) -> None:
    alone = study.experiment.model_copy(update={"topologies": ("pvp",), "vnfs": study.experiment.vnfs[1:]})
    site = WithoutImage()
    with pytest.raises(UnsupportedError, match="nothing of experiment trial") as caught:
        runner(store, lambda _: site).start(replace(study, experiment=alone))
    assert "no image (pvp)" in caught.value.observed
    assert site.asked == []


def test_a_cell_that_lacks_its_vnf_says_nothing_of_its_variant(store: Store, study: Study) -> None:
    run = runner(store, WithoutImage).start(study)
    (lost,) = [cell for cell in store.cells(run.id) if cell.id == "simulated/pvp+process-macswap/64"]
    assert outcomes_of([lost], ()) == ()
    (other,) = outcomes_of([lost.model_copy(update={"reason": "no bridge", "lacks": None})], ())
    assert not other.worked


def test_a_vnf_that_died_decides_the_exit_code() -> None:
    given_up: dict[str, NfvbedError] = {"a": OnboardError("never up"), "b": VnfDiedError("died")}
    found = failure_of(given_up)
    assert found is not None
    assert (found.exit_code, found.observed, found.where) == (22, "died", "a, b")
    assert failure_of({}) is None


def test_a_vnf_that_this_host_cannot_run_is_excluded_and_the_others_go_on(store: Store, study: Study) -> None:
    site = Onboarding(failure=UnsupportedError("no such VNF here", observed="no image"))
    run = runner(store, lambda _: site).start(study)
    cells = {cell.id: cell for cell in store.cells(run.id)}
    assert cells["simulated/p2p/64"].status is Status.OK
    assert cells["simulated/pvp+native/64"].status is Status.UNSUPPORTED
    assert "no image" in cells["simulated/pvp+native/64"].reason


def test_an_emulated_guest_marks_every_trial(store: Store, study: Study) -> None:
    class Emulated(Onboarding):
        def deploy(self, *arguments: object, **named: object) -> Deployment:  # type: ignore[override]
            found = super().deploy(*arguments, **named)  # type: ignore[arg-type]
            vnfs = tuple(vnf.model_copy(update={"accelerator": Accelerator.TCG}) for vnf in found.vnfs)
            return found.model_copy(update={"vnfs": vnfs})

    run = runner(store, Emulated).start(study)
    marked = {t.cell for t in store.trials(run.id) if QualityWarning.EMULATED_ACCELERATOR in t.warnings}
    assert marked == {t.cell for t in store.trials(run.id) if "/pvp+" in t.cell}
