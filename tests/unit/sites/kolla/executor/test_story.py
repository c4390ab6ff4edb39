"""Events as ansible-runner 2.4 passes them on (of ansible-core 2.19), and the errors that come of them."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla.executor.events import PlaybookRun, said_in
from nfvbed.sites.kolla.executor.failures import stage_failed
from nfvbed.sites.kolla.executor.scrub import HIDDEN, Scrubber
from nfvbed.sites.stages import Observer

SECRET = "w1XNqkP0aVbT2zR8"


class Silent(Observer):
    """Remembers where it was."""

    def __init__(self):
        self.positions = []

    def say(self, line):
        """Nobody looks."""

    def begin(self, number, total, name, summary):
        """Nobody looks."""

    def at(self, position):
        """Remember it."""
        self.positions.append(str(position))

    def end(self, outcome, seconds):
        """Nobody looks."""


@pytest.fixture(name="story")
def _story():
    return PlaybookRun(Scrubber([SECRET]), Silent())


def failed(host, said, kind="runner_on_failed", **more):
    return {
        "event": kind,
        "event_data": {
            "play": "Apply role nova",
            "role": "nova-cell",
            "task": "Wait",
            "host": host,
            "res": {"msg": said},
            **more,
        },
    }


def stats(dark=(), failures=()):
    return {
        "event": "playbook_on_stats",
        "event_data": {"dark": dict.fromkeys(dark, 1), "failures": dict.fromkeys(failures, 1)},
    }


def error_of(story):
    return stage_failed("deploy on site rack", story, open_project().load_site("rack"), "/logs/deploy.log")


def test_where_it_is(story):
    story.take({"event": "playbook_on_play_start", "event_data": {"name": "Gather facts"}})
    story.take({"event": "playbook_on_task_start", "event_data": {"task": f"Use {SECRET}"}})
    story.take({"event": "runner_on_ok", "event_data": {"host": "compute1"}})
    assert story.observer.positions[-1] == f"Gather facts: Use {HIDDEN} (compute1)"


def test_the_last_failure_of_each_machine_that_failed_in_the_end(story):
    story.take(failed("compute1", "first"))
    story.take(failed("compute1", "second"))
    story.take(failed("compute2", "rescued"))
    story.take(failed("controller", "ignored", ignore_errors=True))
    story.take(stats(failures=["compute1"]))
    assert [(one.host, one.said) for one in story.final_failures()] == [("compute1", "second")]


def test_an_error_names_machine_role_task_and_log(story):
    story.take(failed("compute1", f"no {SECRET}"))
    story.take(stats(failures=["compute1"]))
    error = error_of(story)
    assert error.where == "compute1, role nova-cell, task 'Wait'"
    assert error.observed == f"no {HIDDEN}"
    assert "/logs/deploy.log" in error.fix and error.exit_code == 20


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("sudo: a password is required", "let root use sudo without a password on compute1"),
        ("Missing sudo password", "NOPASSWD"),
        ("deploy is not in the sudoers file.", "NOPASSWD"),
        ("No first item, sequence was empty.", "hosts.compute1.nics in deploy/sites/rack.yml"),
        ("Kolla images from quay.io/openstack.kolla namespace are meant only for testing purposes", "globals.d"),
        ("tee: /var/x: No space left on device", "make room on compute1"),
        ("write /var/lib/docker/tmp/GetImageBlob1: no space left on device", "make room on compute1"),
        ("manifest for quay.io/openstack.kolla/x not found: manifest unknown", "the registry has no such image"),
        ("The requested image does not exist: 10.10.0.1:5000/openstack.kolla/x:1", "globals.d"),
        ("Get https://quay.io/v2/: dial tcp: registry is unreachable", "reaches the registry of images"),
        ("(1045, \"Access denied for user 'root'@'controller' (using password: YES)\")", "put the file back"),
        ("Error while fetching server API version: ('Connection aborted.', ...)", "start the engine of containers on"),
        ("/bin/sh: 1: /usr/bin/python3: not found", "install Python 3 on compute1"),
        ("Failed to import docker - No module named 'requests'", "bootstrap-servers installs"),
        ("Task failed: Timed out after 5400 second(s).", "see on compute1 what that task's program waits for"),
        ("something else", "correct on compute1 what the task says"),
    ],
)
def test_the_next_step(story, said, fix):
    story.take(failed("compute1", said))
    story.take(stats(failures=["compute1"]))
    assert fix in error_of(story).fix


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("Failed to connect to the host via ssh: ssh: connect to host 10.10.0.11 port 22: Connection refused", "sshd"),
        ("ssh: connect to host 10.10.0.11 port 22: No route to host", "see whether it is up"),
        ("root@10.10.0.11: Permission denied (publickey).", "authorized_keys"),
        ("Host key verification failed.", "ssh-keyscan"),
    ],
)
def test_a_machine_that_cannot_be_reached(story, said, fix):
    story.take(failed("compute1", said, "runner_on_unreachable"))
    story.take(stats(dark=["compute1"]))
    error = error_of(story)
    assert "compute1 cannot be reached" in error.what and fix in error.fix


def test_what_ansible_says_before_any_task(story):
    story.take({"event": "verbose", "stdout": "a line before"})
    story.take({"event": "error", "stdout": f"[ERROR]: couldn't resolve module {SECRET}"})
    story.take({"event": "verbose", "stdout": "Origin: prepare.yml:5"})
    error = error_of(story)
    assert error.observed == f"[ERROR]: couldn't resolve module {HIDDEN}\nOrigin: prepare.yml:5"


def test_of_a_loop_the_first_item_that_failed():
    results = [{"item": "a"}, {"item": "b", "failed": True, "msg": "not there"}]
    assert said_in({"msg": "One or more items failed", "results": results}) == "b: not there"


def test_a_result_that_says_nothing():
    assert said_in({"rc": 1}) == "it said nothing"
    assert said_in({"msg": "non-zero return code", "stderr": "a\n\nb"}) == "non-zero return code\na\nb"


DEAD_ENGINE = (
    '\'Traceback (most recent call last):\\n  File "/tmp/a.py", line 9, in __init__\\n    self.dc = get_client()\\n'
    "docker.errors.DockerException: Error while fetching server API version: (\\'Connection aborted.\\')\\n'"
)
"""As `kolla_container` of kolla-ansible 22.2 hands it on: `repr(traceback.format_exc())`."""


def test_of_a_traceback_what_it_ends_with():
    said = "docker.errors.DockerException: Error while fetching server API version: ('Connection aborted.')"
    assert said_in({"msg": DEAD_ENGINE}) == said
    frames = "".join(f'  File "a{number}.py", line 1\n    call()\n' for number in range(20))
    assert said_in({"msg": f"Traceback (most recent call last):\n{frames}ValueError: no\nsuch thing\n"}) == (
        "ValueError: no\nsuch thing"
    )


def test_of_a_program_that_says_much_its_last_lines():
    copied = "".join(f"INFO:__main__:Copying file {number}\n" for number in range(30))
    said = f"{copied}mkdir: No space left on device"
    shown = said_in({"msg": "Container exited with non-zero return code 1", "stderr": said}).splitlines()
    assert shown[0] == "Container exited with non-zero return code 1" and len(shown) == 8
    assert shown[-1] == "mkdir: No space left on device"
    assert said_in({"msg": "\n".join(map(str, range(9))), "stderr": "x"}).splitlines() == [*"01234567"]
