"""Stages on machines that are a network namespace, with the real Ansible and the real kolla-ansible. As root."""

import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from nfvbed.sites.kolla.executor import leftovers
from tests.functional.disturbed import wait_until
from tests.functional.ssh_host import WITHOUT_RIGHTS, HostOfItsOwn
from tests.kolla.genconfig import ENVIRONMENT, make_passwords
from tests.kolla.racks import FACTS, ROOT, TestRack

COMPUTES = ["compute1", "compute2"]
SLEEPS_S = 600
"""Longer than any test waits for the end of what sleeps."""
SLEEP = f"{{name: Take long, ansible.builtin.command: sleep {SLEEPS_S}}}"
FAILS = "{name: Look for the file, ansible.builtin.command: test -e PATH}"


@pytest.fixture(scope="module", name="far")
def _far(tmp_path_factory):
    assert (ENVIRONMENT / "bin/kolla-ansible").is_file(), "kolla-ansible is not there: run setup/kolla"
    host = HostOfItsOwn(tmp_path_factory.mktemp("far"))
    yield host
    host.close()


@pytest.fixture(scope="module", name="passwords")
def _passwords(tmp_path_factory):
    folder = tmp_path_factory.mktemp("passwords")
    return make_passwords(folder, ENVIRONMENT / "share/kolla-ansible").read_text()


@pytest.fixture(name="rack")
def _rack(tmp_path, far, passwords):
    yield TestRack(tmp_path, far, passwords)
    for pid in far.processes("sleep"):  # a task under way goes on, on the machine, when Ansible is interrupted
        os.kill(pid, signal.SIGKILL)


def running(rack):
    """Processes that were started for the rack."""
    mark = rack.journal()["mark"]
    return leftovers.marked(mark) if mark else {}


def begun(rack, *stages):
    """Start a deployment whose last stage takes long, and return it when that is under way on the machine."""
    process = subprocess.Popen(
        rack.argv("deploy", stages),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    assert wait_until(lambda: rack.host.processes(f"sleep\0{SLEEPS_S}") or process.poll() is not None)
    assert process.poll() is None, process.stdout.read()
    return process


def test_stages_run_in_order_and_a_second_command_finds_all_done(rack):
    rack.places.passwords.unlink()
    stages = (rack.playbook("one", rack.leaves("one")), rack.playbook("two", rack.leaves("two")))
    first = rack.deploy(*stages)
    assert first.code == 0, first.said
    assert "[1/2] one: done" in first.said and "[2/2] two: done" in first.said
    assert rack.left("one") == rack.left("two") == COMPUTES
    assert rack.outcomes() == {"one": "done", "two": "done"}
    second = rack.deploy(*stages)
    assert second.code == 0 and "was deployed already" in second.said
    assert rack.left("one") == COMPUTES
    assert rack.places.directory.stat().st_mode & 0o777 == 0o700
    assert rack.places.passwords.stat().st_mode & 0o777 == 0o600


def test_a_failed_task_is_named_and_the_next_command_continues_there(rack, tmp_path):
    wanted = tmp_path / "wanted"
    stages = (rack.playbook("one", rack.leaves("one")), rack.playbook("two", FAILS.replace("PATH", str(wanted))))
    failed = rack.deploy(*stages)
    assert failed.code == 20, failed.said
    assert failed.part("where").strip() == "compute1, task 'Look for the file'"
    assert "non-zero return code" in failed.part("observed")
    assert "compute2, task 'Look for the file'" in failed.part("observed")
    assert "correct on compute1" in failed.part("fix") and "the same command continues here" in failed.part("fix")
    assert rack.journal()["stages"]["two"]["where"] == "compute1, task 'Look for the file'"
    assert not running(rack)
    wanted.touch()
    again = rack.deploy(*stages)
    assert again.code == 0, again.said
    assert "[1/2] one: done already" in again.said
    assert rack.left("one") == COMPUTES


def test_what_was_rescued_is_no_failure(rack):
    tasks = (
        "name: Try\n      block:\n        - {name: Fail, ansible.builtin.fail: {msg: rescued}}\n"
        "      rescue:\n        - {name: Go on, ansible.builtin.debug: {msg: on}}",
        "{name: Fail for good, ansible.builtin.fail: {msg: not rescued}, when: inventory_hostname == 'compute2'}",
    )
    failed = rack.deploy(rack.playbook("one", *tasks))
    assert failed.part("where").strip() == "compute2, task 'Fail for good'"
    assert failed.part("observed").strip() == "not rescued"


def test_no_secret_is_shown_or_kept_or_in_a_command_line(rack):
    secret = "{{ keystone_admin_password }}"
    stages = (
        rack.playbook(
            "secret-one",
            f"{{name: Show it, ansible.builtin.debug: {{msg: 'it is {secret}'}}}}",
            f'{{name: "Show all {secret}", ansible.builtin.debug: {{msg: {{a: ["{secret}"]}}}}}}',
            '{name: Encode it, ansible.builtin.debug: {msg: "{{ keystone_admin_password | b64encode }}"}}',
            "{name: Show a key, ansible.builtin.debug: {msg: '{{ nova_ssh_key.private_key }}'}}",
            f"{{name: Have it in a command, ansible.builtin.shell: 'echo {secret} >&2; exit 3'}}",
        ),
    )
    process = subprocess.Popen(
        rack.argv("deploy", stages),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    lines = set()
    while process.poll() is None:
        lines |= {line for line in command_lines() if "ansible" in line}
        time.sleep(0.1)
    said = process.stdout.read()
    assert process.returncode == 20, said
    secret = rack.secret()
    assert len(secret) >= 20
    everything = said + rack.kept()
    assert "********" in everything and "Show it" in everything
    hidden = [secret, *forms_of_key(rack)]
    assert not [one for one in hidden if one in everything]
    assert lines and not [line for line in lines if secret in line]


def command_lines():
    """Command lines of all processes here, but for those that a task made on the machine."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def forms_of_key(rack):
    passwords = yaml.safe_load(rack.places.passwords.read_text())
    key = passwords["nova_ssh_key"]["private_key"].splitlines()
    return [*key[1:3], base64.b64encode(rack.secret().encode()).decode()]


def test_an_unreachable_machine(rack):
    rack.write_site(port=2223)
    failed = rack.deploy(rack.playbook("one", rack.leaves("one")))
    assert failed.code == 20, failed.said
    assert "compute1 cannot be reached" in failed.said
    assert "Connection refused" in failed.part("observed")
    assert "see whether sshd runs there on port 2223" in failed.part("fix")
    rack.write_site()
    assert rack.deploy("one").code == 0


def test_a_machine_with_another_key(rack, far):
    rack.write_site(known_hosts=str(far.folder / "others"))
    (far.folder / "others").write_text(far.known("stranger"))
    failed = rack.deploy(rack.playbook("one", rack.leaves("one")))
    assert failed.code == 20 and not rack.left("one"), failed.said
    assert "another key" in failed.said or "key" in failed.part("fix")


def test_a_machine_that_loses_its_power_half_way(rack, far):
    stages = (rack.playbook("one", rack.leaves("one")), rack.playbook("two", SLEEP, rack.leaves("two")))
    process = begun(rack, *stages)
    with without_power(far):
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 20, said
    assert re.search("compute[12] cannot be reached", said) and "task 'Take long'" in said, said
    assert rack.outcomes() == {"one": "done", "two": "failed"}
    assert not running(rack)
    rack.playbook("two", rack.leaves("two"))
    again = rack.deploy(*stages)
    assert again.code == 0, again.said
    assert rack.left("one") == rack.left("two") == COMPUTES


@contextlib.contextmanager
def without_power(far):
    """End all that runs on the machine, of which nothing there is told; it is up again at the end."""
    for pid in [*far.processes("sshd"), *far.processes("")]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    try:
        yield
    finally:
        (far.folder / "sshd.log").write_text("")  # that it listens is read there
        far.start()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_ansible_and_all_that_it_started(rack, number):
    stages = (rack.playbook("one", rack.leaves("one")), rack.playbook("two", SLEEP))
    process = begun(rack, *stages)
    assert running(rack)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "the same command continues with this stage" in said
    assert not running(rack)
    assert rack.outcomes() == {"one": "done", "two": "interrupted"}
    assert rack.journal()["stages"]["two"]["where"].endswith("Play of two: Take long")
    assert not list(rack.places.directory.rglob("*.new"))


def test_what_a_killed_nfvbed_left_is_ended_by_the_next_one(rack):
    process = begun(rack, rack.playbook("one", SLEEP))
    process.kill()
    process.wait()
    process.stdout.close()
    rack.playbook("one", rack.leaves("one"))
    again = rack.deploy("one")
    assert again.code == 0, again.said
    assert rack.left("one") == COMPUTES
    assert not running(rack)


def test_a_user_without_sudo(rack):
    """The account may sign in on the machine, and the real sudo there refuses it."""
    rack.write_site(user=WITHOUT_RIGHTS)
    failed = rack.deploy(rack.playbook("one", rack.leaves("one"), head=f"{FACTS}  become: true\n"))
    assert failed.code == 20, failed.said
    assert "Missing sudo password" in failed.part("observed"), "Ansible's words for what sudo said"
    assert f"let {WITHOUT_RIGHTS} use sudo without a password on compute1" in failed.part("fix")
    assert rack.left("one") == []


def test_a_variable_that_is_not_there(rack):
    failed = rack.deploy(rack.playbook("one", "{name: Use it, ansible.builtin.debug: {msg: '{{ nobody_has_it }}'}}"))
    assert failed.code == 20 and "nobody_has_it" in failed.part("observed"), failed.said


def test_a_playbook_that_ansible_cannot_read(rack):
    failed = rack.deploy(rack.playbook("one", "{name: No such module, nobody.has.it: {}}"))
    assert failed.code == 20, failed.said
    assert "nobody.has.it" in failed.part("observed")


CONTROL, NETWORK = "[control]\ncontroller\n", "[network]\ncontroller\n"
INVENTORIES = {
    "an unknown machine": (f"{CONTROL}{NETWORK}[compute]\ncompute1\ncompute7\n", ":7 group compute", "compute7"),
    "a missing machine": (f"{CONTROL}{NETWORK}[compute]\ncompute1\n", "group compute", "compute2"),
    "a missing group": (f"{CONTROL}[compute]\ncompute1\ncompute2\n", "mine", "compute, control"),
    "a wrong role": (
        f"[control]\ncompute1\n{NETWORK}[compute]\ncompute1\ncompute2\n",
        ":2 group control",
        "compute1.roles: compute",
    ),
    "no inventory": ("[control\nx", "mine", "Failed to parse inventory"),
}


@pytest.mark.parametrize("name", INVENTORIES)
def test_a_wrong_inventory(rack, tmp_path, name):
    text, where, observed = INVENTORIES[name]
    (tmp_path / "mine").write_text(text)
    failed = rack.deploy(rack.playbook("one", rack.leaves("one")), inventory=tmp_path / "mine")
    assert failed.code == 10, failed.said
    assert where in failed.part("where") and observed in failed.part("observed")
    assert not rack.left("one") and not rack.places.journal.exists()


def test_an_inventory_of_one_s_own(rack, tmp_path):
    text = "[control]\ncontroller\n[network:children]\ncontrol\n[compute]\ncompute[1:2] mine=yes\n"
    (tmp_path / "mine").write_text(text)
    wanted = "{name: See it, ansible.builtin.assert: {that: mine == 'yes'}}"
    done = rack.deploy(rack.playbook("one", wanted), inventory=tmp_path / "mine")
    assert done.code == 0, done.said


def test_passwords_that_machines_have_are_not_made_again(rack):
    stage = rack.playbook("secret-one", rack.leaves("one"))
    assert rack.deploy(stage).code == 0
    rack.playbook("secret-two", rack.leaves("two"))
    rack.places.passwords.chmod(0o644)
    readable = rack.deploy(stage, "secret-two")
    assert readable.code == 12 and "chmod 600" in readable.part("fix"), readable.said
    rack.places.passwords.unlink()
    gone = rack.deploy(stage, "secret-two")
    assert gone.code == 12 and "put it back" in gone.part("fix"), gone.said
    assert not rack.left("two")


def test_without_kolla_ansible(rack):
    (rack.folder / ".nfvbed" / "kolla").unlink()
    failed = rack.deploy(rack.playbook("one", rack.leaves("one")))
    assert failed.code == 12 and failed.part("fix").strip() == "setup/kolla", failed.said


def test_another_variant_is_refused_and_a_rack_is_taken_down(rack):
    assert rack.deploy(rack.playbook("one", rack.leaves("one"))).code == 0
    found = rack.journal() | {"variant": "ovs-dpdk"}
    rack.places.journal.write_text(json.dumps(found))
    refused = rack.deploy("one")
    assert refused.code == 13 and "--redeploy" in refused.part("fix"), refused.said
    failing = rack.playbook("undo", "{name: Fail, ansible.builtin.fail: {msg: not yet}}")
    stopped = rack.run("destroy", [failing])
    assert stopped.code == 20, stopped.said
    half = rack.deploy("one")
    assert half.code == 13 and "half taken down" in half.said
    rack.playbook("undo", rack.leaves("undo"))
    done = rack.run("destroy", ["undo"])
    assert done.code == 0 and rack.left("undo") == COMPUTES, done.said
    assert not rack.places.journal.exists() and rack.places.passwords.exists()
    assert rack.deploy("one").code == 0


def test_silence_is_broken(rack):
    done = rack.deploy(rack.playbook("one", "{name: Take a while, ansible.builtin.command: sleep 6}"))
    assert "s: Play of one: Take a while" in done.said


def test_the_real_prechecks_name_host_task_and_next_step(rack):
    """A network namespace is no machine of a rack: Kolla's own checks say what it lacks."""
    failed = rack.run("deploy", ["kolla:prechecks"], timeout_s=280)
    assert failed.code == 20, failed.said
    assert failed.part("where").startswith(("controller", "compute")), failed.said
    assert "task '" in failed.part("where")
    assert "Gather facts" not in failed.part("where") + failed.part("observed"), failed.said
    assert "role prechecks" in failed.part("where") and "correct on " in failed.part("fix"), failed.said
