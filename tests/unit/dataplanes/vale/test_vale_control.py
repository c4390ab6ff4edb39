"""How vale-ctl is called and understood; a script is in its place (a double)."""

import pytest

from nfvbed.dataplanes.ports.kernel_links import BridgePlan
from nfvbed.dataplanes.vale import control
from nfvbed.dataplanes.vale.adapter import vale_ports
from nfvbed.dataplanes.vale.control import ValeControl, locate, most_switches
from nfvbed.errors import DeployError, PrerequisiteError, UnsupportedError
from nfvbed.records import PortKind
from nfvbed.spec.layout import layout

# What apps/vale-ctl prints: name, indices; then it ends with 1.
LISTS = """#!/bin/sh
[ $# -eq 0 ] && { echo 'valenfv0:s0 bridge_idx 0 port_idx 0'; echo 'vale1:x bridge_idx 1 port_idx 2'; exit 1; }
[ "$1 $2" = "-a valenfv0:s0" ] && exit 0
echo "failed to detach $2: No such device or address" >&2; exit 1
"""


def tool(tmp_path, text):
    program = tmp_path / "vale-ctl"
    program.write_text(text)
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.setattr(control, "inside", lambda _netns, work: work())


def test_attach_detach_and_list(tmp_path):
    asked = ValeControl("x", tool(tmp_path, LISTS))
    assert asked.ports() == ("valenfv0:s0", "vale1:x")
    asked.attach("valenfv0:s0")
    with pytest.raises(DeployError, match="No such device"):
        asked.detach("valenfv0:s1")


def test_a_list_that_fails_says_so(tmp_path):
    with pytest.raises(DeployError, match="/dev/netmap: Permission denied"):
        ValeControl("x", tool(tmp_path, "#!/bin/sh\necho '/dev/netmap: Permission denied' >&2; exit 1\n")).ports()


def test_absent_module_and_absent_tool_are_distinguished(monkeypatch, tmp_path):
    monkeypatch.setattr(control, "DEVICE", tmp_path / "netmap")
    with pytest.raises(UnsupportedError, match="the kernel has no netmap") as caught:
        locate()
    assert "modprobe netmap" in caught.value.fix
    (tmp_path / "netmap").touch()
    monkeypatch.setenv(control.TOOL_VARIABLE, str(tmp_path / "vale-ctl"))
    with pytest.raises(PrerequisiteError, match="is no program"):
        locate()
    tool(tmp_path, LISTS)
    assert locate() == tmp_path / "vale-ctl"


def test_every_cable_is_a_switch():
    plan = BridgePlan(layout("pvp"), PortKind.VETH)
    assert list(vale_ports(plan, "x")) == ["valex0:s0", "valex0:v1a", "valex1:v1b", "valex1:s1"]
    assert most_switches() >= 1
