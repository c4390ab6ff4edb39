"""A VNF is killed under traffic, healed by command and respawned by a monitor, on a real switch. As root."""

import pytest

from nfvbed.records import Status
from nfvbed.records.results import ResultKind, TablePayload
from nfvbed.store import Store

pytestmark = pytest.mark.no_hugepages

EXPERIMENT = """
name: life
title: A VNF dies and comes back
purpose: survey
variants: [{variant}]
topologies: [pvp]
vnfs: [{{kind: process, forwarding: {forwarding}}}]
frame_sizes: [64]
trials: {{warmup_s: 0.1, mrr_trials: 1, mrr_duration_s: 0.1, paced_duration_s: 0.1}}
tests:
  - {{kind: mrr}}
  - kind: life-cycle
    operations: {operations}
    repetitions: 1
    duration_s: 6
    loss_free_s: 1
    monitor: {{delay_s: 0, interval_s: 0.3, failures: 3}}
repetitions: {{needed: 1, max_rounds: 1}}
ceilings: false
"""


@pytest.mark.parametrize(
    ("variant", "forwarding", "operations"),
    [
        ("linux-bridge", "raw", ("heal", "respawn", "scale-out")),
        pytest.param("ovs-dpdk", "io", ("heal",), marks=pytest.mark.slow),
    ],
)
def test_killed_vnf_comes_back_and_frames_with_it(nfvbed, tmp_path, variant, forwarding, operations):
    experiment, store = tmp_path / "life.yml", tmp_path / "x.sqlite"
    experiment.write_text(EXPERIMENT.format(variant=variant, forwarding=forwarding, operations=list(operations)))
    running = nfvbed("run", experiment, "--no-doctor", "--store", store)
    _, err = running.communicate(timeout=180)
    assert running.returncode == 0, err
    with Store.open(store, read_only=True) as opened:
        (result,) = opened.results(opened.runs()[0].id)
    assert (result.kind, result.status) == (ResultKind.LIFE_CYCLE, Status.OK), result.reason
    rows = {row.label: row for row in TablePayload.model_validate(result.payload).rows}
    came_back = [name for name in operations if name != "scale-out"]
    found = {name: {one.name: one.value for one in rows[name].quantities} for name in came_back}
    for values in found.values():
        assert values["longest gap"] > 0
        assert values["lost frames"] > 0
    if operations == ("heal",):  # The monitor and what cannot be done know nothing of the switch.
        return
    assert rows["scale-out"].status is Status.UNSUPPORTED
    # Three looks 0.3 s apart: so long a monitor lets the VNF be dead, and a command does not.
    assert found["respawn"]["longest gap"] > 0.6
    assert found["respawn"]["decided"] == pytest.approx(0.6, abs=0.2)
    assert rows["respawn"].parameters["failures"] == "3"
