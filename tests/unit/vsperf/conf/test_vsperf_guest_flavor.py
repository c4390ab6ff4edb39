"""The size of VSPERF's guests is that of a flavor: one of the project's where it is the same, else one that is made."""

from pathlib import Path

import pytest

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.records import VnfKind
from nfvbed.spec.commands import TracedPath, trace_command
from nfvbed.vsperf.conf import Selection, read_settings, select, study_of
from tests.refusals import misconfigured
from tests.unit.vsperf.conf.conf_files import PROJECT, settings_of

IO = "GUEST_TESTPMD_FWD_MODE = ['io']\n"


def chosen(folder: Path, text: str, test: str = "pvp_cont") -> Selection:
    return select(settings_of(folder, n09_own=IO + text), test, PROJECT)


def flavor_of(selection: Selection):
    """Return the flavor as a run has it, and whether it was made."""
    study = study_of(selection, PROJECT)
    choice = study.choice(study.variants[0].name, study.experiment.vnfs[0].label)
    return choice.flavor, choice.own_flavor


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "default"),
        ("GUEST_SMP = ['2']", "hugepages"),
        ("GUEST_SMP = ['4']\nGUEST_NIC_QUEUES = [4]", "multiqueue"),
        ("GUEST_SMP = ['4']\nGUEST_NIC_QUEUES = [4]\nGUEST_CORE_BINDING = [(4, 5, 6, 7)]", "multiqueue-pinned"),
        ("GUEST_MEMORY = ['1024']\nGUEST_CORE_BINDING = [('4', '5')]", "pinned"),
        # QEMU itself on core 3, its vCPUs on 4 and 5.
        ("GUEST_CORE_BINDING = [('3',)]\nGUEST_THREAD_BINDING = [('4', '5')]", "emulator-threads"),
    ],
)
def test_a_flavor_of_the_project_is_taken_where_it_is_the_same(tmp_path: Path, text: str, name: str):
    selection = chosen(tmp_path, text)
    flavor, made = flavor_of(selection)
    assert (selection.missing, flavor.name, made) == ((), name, False)
    assert "flavors" not in selection.experiment


@pytest.mark.parametrize(
    ("text", "name", "specs"),
    [
        (
            "GUEST_SMP = ['sockets=1,cores=4']\nGUEST_NIC_QUEUES = [2]\nGUEST_MEMORY = ['4096']",
            "vsperf-4c-2q-4096m",
            {"hw:cpu_policy": "shared", "hw:mem_page_size": "2048", "hw:vif_multiqueue_enabled": "true"},
        ),
        ("GUEST_SMP = ['3']", "vsperf-3c-1q-768m", {"hw:cpu_policy": "shared", "hw:mem_page_size": "2048"}),
        (
            "GUEST_SMP = ['3']\nGUEST_MEMORY = ['2048']\nGUEST_CORE_BINDING = [('4', '5', '6')]",
            "vsperf-3c-1q-2048m-pinned",
            {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "2048"},
        ),
        (
            "GUEST_SMP = ['3']\nGUEST_CORE_BINDING = [(3,)]\nGUEST_THREAD_BINDING = [(4, 5, 6)]",
            "vsperf-3c-1q-768m-pinned-isolated",
            {
                "hw:cpu_policy": "dedicated",
                "hw:mem_page_size": "2048",
                "hw:emulator_threads_policy": "isolate",
            },
        ),
    ],
)
def test_another_is_made_and_means_the_same_on_clouds(tmp_path: Path, text: str, name: str, specs: dict):
    selection = chosen(tmp_path, text)
    flavor, made = flavor_of(selection)
    assert (selection.missing, flavor.name, made) == ((), name, True)
    assert selection.origins[("flavors",)][0] == "GUEST_SMP"
    assert extra_specs(flavor) == specs


def test_the_whole_of_vsperfs_defaults_is_a_flavor_of_the_project(tmp_path: Path):
    text = "GUEST_SMP = ['2']\nGUEST_MEMORY = ['2048']\nGUEST_NIC_QUEUES = [0]\n"
    selection = chosen(tmp_path, text + "GUEST_CORE_BINDING = [('#EVAL(6+2*#VMINDEX)', '#EVAL(7+2*#VMINDEX)')]")
    assert flavor_of(selection)[0].name == "hugepages"
    differing = {note.name for note in selection.notes if note.kind == "differs"}
    assert {"GUEST_MEMORY", "GUEST_CORE_BINDING"} <= differing


def test_the_guests_of_a_chain_have_cores_of_their_own(tmp_path: Path):
    text = "GUEST_CORE_BINDING = [('#EVAL(8+2*#VMINDEX)', '#EVAL(9+2*#VMINDEX)')]"
    selection = chosen(tmp_path, text, "pvvp_cont")
    assert (selection.missing, flavor_of(selection)[0].cpu_policy) == ((), "dedicated")
    (missing,) = chosen(tmp_path, "GUEST_CORE_BINDING = [('8', '9')]", "pvvp_cont").missing
    assert "has its core alone, among all guests" in missing


def test_what_no_flavor_can_have_is_missing_with_its_fix(tmp_path: Path):
    selection = chosen(tmp_path, "GUEST_NIC_QUEUES = [8]\nGUEST_SMP = ['4']")
    assert "has vCPUs, and 16: 4 here (GUEST_NIC_QUEUES = 8" in selection.missing[0]
    assert selection.advice[0] == "give GUEST_NIC_QUEUES up to 4, or GUEST_SMP as many vCPUs"


def test_a_process_has_one_queue(tmp_path: Path):
    settings = settings_of(tmp_path, n09_own="GUEST_NIC_QUEUES = [2]\n")
    process = select(settings, "pvp_cont", PROJECT, vnf_kind=VnfKind.PROCESS)
    assert "a process has one queue a port" in process.missing[0]


def test_no_command_names_a_flavor_that_only_the_experiment_has(tmp_path: Path):
    study = study_of(chosen(tmp_path, "GUEST_SMP = ['3']"), PROJECT)
    choice = study.choice("ovs-dpdk", study.experiment.vnfs[0].label)
    assert "--flavor" not in trace_command(TracedPath("ovs-dpdk", "pvp", 64, choice))


def test_a_flavor_of_an_experiment_does_not_hide_a_file(tmp_path: Path):
    selection = chosen(tmp_path, "GUEST_SMP = ['3']")
    study = {"flavors": [{"name": "pinned", "title": "Other"}]}
    misconfigured(lambda: study_of(selection, PROJECT, study), "'pinned'", "pinned.yml in flavors", "another name")
    assert "flavors" not in select(read_settings([]), "pvp_cont", PROJECT).experiment
