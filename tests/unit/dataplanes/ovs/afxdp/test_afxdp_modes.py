"""In which mode AF_XDP sockets are: read of what Open vSwitch 3.1 prints."""

import pytest

from nfvbed.dataplanes.ovs.afxdp import modes
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.errors import DeployError

SHOWN = """netdev@ovs-netdev:
  lookups: hit:10657 missed:17 lost:0
  flows: 0
  port 0: ovs-netdev (tap)
  port 5: mgmt
  port 7: data0 (afxdp: n_rxq=1, use-need-wakeup=true, xdp-mode=best-effort, xdp-mode-in-use=native)
  port 9: tap8cfea811-00 (afxdp-nonpmd: n_rxq=1, use-need-wakeup=true, xdp-mode=generic, xdp-mode-in-use=generic)
"""


@pytest.fixture(name="shown", autouse=True)
def _shown(monkeypatch):
    monkeypatch.setattr(modes.unixctl, "command", lambda control, command: SHOWN)


def options(mode):
    return OvsAfxdpOptions(dataplane="ovs-afxdp", xdp_mode=mode)


def test_modes_are_read_by_port():
    assert modes.parse(SHOWN) == {"data0": "native", "tap8cfea811-00": "generic"}


@pytest.mark.parametrize(
    ("name", "mode"), [("data0", "native"), ("data0", "best-effort"), ("tap8cfea811-00", "generic")]
)
def test_the_mode_that_is_asked_for_is_enough(tmp_path, name, mode):
    modes.check(tmp_path, dict, [name], options(mode))


@pytest.mark.parametrize(
    ("name", "mode", "observed"),
    [
        ("data0", "generic", "it is in mode native"),
        ("data0", "native-with-zerocopy", "it is in mode native"),
        ("mgmt", "best-effort", "it is no AF_XDP socket"),
    ],
)
def test_another_mode_is_an_error(tmp_path, name, mode, observed):
    with pytest.raises(DeployError, match=name) as raised:
        modes.check(tmp_path, dict, [name], options(mode))
    assert raised.value.observed == observed
