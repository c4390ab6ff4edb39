"""Cells with VNFs go through a run as those without: deployed with them, stored with their steps, resumed with them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from run_bench import WatchedSite, keys, only_run, runner

from nfvbed.errors import NfvbedError, OnboardError, UnsupportedError, VnfDiedError
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import Accelerator, CellRole, Deployment, QualityWarning, Status, TrialRecord
from nfvbed.run.tools import Tools
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.store import Store

PROJECT = Project(Path(__file__).parents[3])


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
        (CellRole.VNF, "pvp", "process-io"),
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


def test_a_resumed_run_has_the_vnfs_that_it_began_with(store: Store, study: Study) -> None:
    whole = runner(store, Onboarding).start(study)

    class Interrupted(Measurement):
        def measure(self, task: TrialTask) -> TrialRecord:
            if task.sequence == 7:
                raise VnfDiedError("vnf1 ended", observed="exit status 139")
            return super().measure(task)

    with pytest.raises(VnfDiedError) as caught:
        runner(store, Onboarding, tools=Tools(measure_with=Interrupted)).start(study)
    assert caught.value.exit_code == 22
    run = store.runs()[0]
    (failed,) = [trial for trial in store.trials(run.id) if trial.status is Status.FAILED]
    assert "exit status 139" in failed.reason
    assert len(store.trials(run.id)) == 7, "what was measured before is kept"
    site = Onboarding(7)
    resumed = runner(store, lambda _: site).resume(run)
    assert resumed.status is Status.OK
    assert (CellRole.SUBJECT, "pvp", "native") in site.asked
    assert set(keys(store.trials(resumed.id))) >= {key for key in keys(store.trials(whole.id)) if key[0] == 1}


def test_a_vnf_that_cannot_be_onboarded_fails_the_run(store: Store, study: Study) -> None:
    site = Onboarding(failure=OnboardError("vnf1 never said that it is up"))
    with pytest.raises(OnboardError) as caught:
        runner(store, lambda _: site).start(study)
    assert caught.value.exit_code == 21
    assert only_run(store).status is Status.FAILED
    assert not site.standing


def test_a_vnf_that_this_host_cannot_run_is_set_aside_and_the_others_go_on(store: Store, study: Study) -> None:
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
