"""The site when nfvbed is killed: the next command removes what it had begun, and nothing else; where passwords are."""

import json
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.host.workspace.reap import workspaces
from nfvbed.patience import patient
from nfvbed.records import Status
from nfvbed.sites.openstack import storeddeployment
from nfvbed.store import Store
from tests.openstack.cloud_driver import ROOT, command_lines, verb, wait
from tests.openstack.onboarding import legacy, owner
from tests.openstack.test_site import VNF, ok

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1500)]
CLEARED_S = patient(240.0)
"""Within which the next command has removed what a killed one had begun."""
ONBOARD = ("onboard", "vloop", "--variant", "ovs-dpdk", *VNF)


@pytest.fixture(name="others_vnf")
def _others_vnf(connection, tmp_path):
    """A VNF of another owner in the same project: it is there after the test as it was before."""
    api = LegacyApi(connection, Journal(tmp_path / "others.jsonl"))
    vnf = api.onboard(legacy("stays"), lambda text: None)
    yield vnf
    (still,) = api.found(owner())
    assert (still.id, still.stack_id, still.instances) == (vnf.id, vnf.stack_id, vnf.instances)
    assert connection.compute.get_server(vnf.instances[0].id).status == "ACTIVE"
    api.remove(vnf)


def kill_when(come, words, printed):
    """Start nfvbed, and kill it when something has come to pass; return the number of its process.

    Args:
        come: whether it has.
        words: of the command.
        printed: file of what it prints.
    """
    argv = [sys.executable, "-m", "nfvbed", "--root", str(ROOT), *words]
    with printed.open("w") as log:
        killed = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        assert wait(lambda: killed.poll() is not None or come(), patient(300))
        assert killed.poll() is None, printed.read_text()
    finally:
        killed.kill()
        killed.wait()
    return killed.pid


@pytest.mark.usefixtures("others_vnf")
@pytest.mark.parametrize(
    "words",
    [(*ONBOARD, "--site", "devcloud"), (*ONBOARD, "--site", "devcloud-sol"), ("run", "openstack", "--no-doctor")],
    ids=["legacy", "sol", "run"],
)
def test_what_a_killed_nfvbed_had_begun_is_removed_by_the_next_command(onboarding_cloud, tmp_path, timed, words):
    before = onboarding_cloud.holdings()
    if words[0] == "run":
        words = (*words, "--store", str(tmp_path / "results.sqlite"))
    kill_when(lambda: onboarding_cloud.servers() - before["servers"], words, tmp_path / "killed.log")
    begun = storeddeployment.under_way(onboarding_cloud.places.run)
    assert begun
    with timed("cleared") as seconds:
        cleared = verb("deploy", "ovs-dpdk", "--site", "devcloud")
    assert cleared.returncode == 0, cleared.stderr
    assert begun in cleared.stderr, cleared.stderr
    assert seconds() < CLEARED_S
    assert storeddeployment.under_way(onboarding_cloud.places.run) == ""
    assert new_since(onboarding_cloud, before) == {}
    assert not (onboarding_cloud.places.run / "onboarded.jsonl").exists()


@pytest.mark.usefixtures("others_vnf")
def test_a_run_that_is_killed_on_its_second_data_plane_goes_on_with_it_and_repeats_nothing(onboarding_cloud, tmp_path):
    before, store, instances = onboarding_cloud.holdings(), tmp_path / "results.sqlite", []

    def second_instance():
        instances.extend(onboarding_cloud.servers() - before["servers"] - set(instances))
        return len(instances) > 1

    words = ("run", "openstack", "--no-doctor", "--store", str(store))
    pid = kill_when(second_instance, words, tmp_path / "killed.log")
    begun = storeddeployment.under_way(onboarding_cloud.places.run)
    assert begun
    assert pid in {one.ledger.owner.pid for one in workspaces()}, "it had begun to deploy on this machine, too"
    run, kept = stored(store)
    assert run.status is None
    assert {trial.status for trial in kept} == {Status.OK}
    (measured,) = {trial.cell for trial in kept}
    resumed = verb("run", "--resume", "--store", str(store))
    assert resumed.returncode == 0, resumed.stderr
    assert begun in resumed.stderr, resumed.stderr
    assert pid not in {one.ledger.owner.pid for one in workspaces()}
    ended, trials = stored(store)
    assert (ended.id, ended.status) == (run.id, Status.OK)
    assert trials[: len(kept)] == kept
    assert [trial.sequence for trial in trials] == list(range(1, len(trials) + 1))
    (other,) = {trial.cell for trial in trials[len(kept) :]}
    assert other != measured, "what was measured is not measured again"
    assert storeddeployment.under_way(onboarding_cloud.places.run) == ""
    assert new_since(onboarding_cloud, before) == {}


def stored(path):
    """Return the only run in a store, and its trials in the order in which they were stored."""
    with Store.open(str(path), read_only=True) as store:
        (run,) = store.runs()
        return run, store.trials(run.id)


def new_since(cloud, before):
    """Return what the cloud holds beside VNFs' images, which stay for the next one, that it did not hold."""
    found = {kind: ids - before[kind] for kind, ids in cloud.holdings().items() if kind != "images"}
    return {kind: ids for kind, ids in found.items() if ids}


class Watch:
    """Looks at the command lines of all processes of this machine while it is entered."""

    def __init__(self, words):
        self._words = tuple(words)
        self.seen = []
        self.looks = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _look(self):
        while not self._ended.wait(0.2):
            self.looks += 1
            self.seen += [line for line in command_lines().splitlines() if any(word in line for word in self._words)]


def having(words, *folders):
    """Return the files below folders that have one of the words in them; symbolic links are not followed."""
    argv = ["grep", "-rlaF", "--devices=skip", "-f", "-", *map(str, folders)]
    done = subprocess.run(argv, input="\n".join(words), capture_output=True, text=True, timeout=600, check=False)
    return [Path(line) for line in done.stdout.splitlines()]


def others_can_read(path):
    """Whether a user who is neither its owner nor of its group reaches it and can read it."""
    above = all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)
    return above and bool(path.stat().st_mode & stat.S_IROTH)


def test_no_password_is_in_a_log_a_result_a_process_list_or_a_file_of_others(onboarding_cloud, tmp_path):
    store, places = tmp_path / "results.sqlite", onboarding_cloud.places
    passwords = list(json.loads(places.secrets.read_text()).values())
    with Watch(passwords) as watch:
        printed = [
            ok("run", "openstack", "--variant", "ovs-dpdk", "--set", "baseline=ovs-dpdk", "--store", str(store)),
            ok(*ONBOARD, "--site", "devcloud-sol", "--json"),
            ok("trace", "ovs-dpdk", "--site", "devcloud-sol", "--json"),
            ok("offboard", "--site", "devcloud-sol"),
            ok("export", "latest", "--store", str(store), "--format", "json"),
        ]
    assert watch.looks > 10
    assert watch.seen == []
    assert [text for text in printed if any(word in text for word in passwords)] == []
    assert having(passwords, places.directory / "logs", tmp_path) == []
    found = having(passwords, places.directory, ROOT / "results", ROOT / ".nfvbed")
    # What is looked for is found where it has to be: the search does find.
    assert {places.secrets, places.clouds} <= set(found)
    assert [path for path in found if path.exists() and others_can_read(path)] == []
