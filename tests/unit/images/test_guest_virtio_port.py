"""The agent on a cloud's virtio port: what libvirt asks of the QEMU guest agent, and the request within a command."""

import json
from pathlib import Path

import pytest
from agent import virtioport

SENT = (Path(__file__).parent / "recorded/libvirt-9.0.0-to-agent.jsonl").read_bytes().splitlines()
"""What libvirt 9.0.0 of a devcloud's node wrote into the port, for `virsh qemu-agent-command` and `virsh domtime`."""
SYNC, REQUEST, INFO, *OTHERS = SENT


def ask(request):
    """An agent of vloop/1 that repeats what it was asked."""
    return {"schema": "vloop/1", "id": json.loads(request)["id"], "ok": True, "result": {"asked": json.loads(request)}}


def answered(line):
    return json.loads(virtioport.answer(line, ask))


def test_libvirt_is_synchronized_with():
    assert answered(SYNC) == {"return": 1795997974603}
    assert answered(b"\xff" + SYNC) == {"return": 1795997974603}
    delimited = virtioport.answer(SYNC.replace(b"guest-sync", b"guest-sync-delimited"), ask)
    assert delimited[:1] == b"\xff" and json.loads(delimited[1:]) == {"return": 1795997974603}
    assert answered(b'{"execute":"guest-ping"}') == {"return": {}}


def test_a_request_is_the_arguments_of_its_own_command():
    assert answered(REQUEST)["return"]["result"] == {"asked": {"schema": "vloop/1", "id": 1, "do": "info"}}


def test_its_commands_are_told():
    names = {one["name"] for one in answered(INFO)["return"]["supported_commands"]}
    assert names == {"guest-sync", "guest-sync-delimited", "guest-ping", "guest-info", "vloop"}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        *((line, "CommandNotFound") for line in (*OTHERS, b"{}")),
        (b"[]", "GenericError"),
        (b"\xfe{", "GenericError"),
    ],
)
def test_other_commands_are_refused_as_the_protocol_says(line, kind):
    error = answered(line)["error"]
    assert error["class"] == kind and error["desc"]


def test_the_port_is_found_by_its_name(tmp_path):
    assert virtioport.find(str(tmp_path / "none")) == ""
    for port, name in (("vport0p1", "org.spice-space.webdav.0"), ("vport0p2", virtioport.NAME)):
        (tmp_path / port).mkdir()
        (tmp_path / port / "name").write_text(f"{name}\n")
    assert virtioport.find(str(tmp_path)) == "/dev/vport0p2"
