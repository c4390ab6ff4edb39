"""The kernel's answers about its datapath: recorded in a guest node with Linux 6.12, after 254 frames."""

import errno
from pathlib import Path

import pytest
from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.ovs.kernel import datapath as kernel_datapath
from nfvbed.dataplanes.ovs.kernel import reading as kernel_reading
from nfvbed.dataplanes.ovs.kernel.datapath import DatapathCounters, read_datapath, try_datapath
from nfvbed.dataplanes.ovs.openflow import PortCounters
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ports.link_state import LinkState
from nfvbed.errors import SwitchDiedError
from nfvbed.host.network import napi
from nfvbed.records import NOT_SEPARABLE, Deployment, Role, WorkThread

RECORDED = bytes.fromhex(Path(__file__).with_name("captured").joinpath("kernel-datapath.hex").read_text().strip())
COUNTED = DatapathCounters(hit=246, missed=8, lost=0, mask_hit=252, cache_hit=242, flows=4, masks=2)


class Socket:
    """A netlink socket that gives the recorded answer; a double."""

    prid = 36
    failure = None

    def __init__(self):
        self.asked = []

    def bind(self, family, message):
        if self.failure:
            raise NetlinkError(self.failure, family)

    def nlm_request(self, message, msg_type, msg_flags):
        self.asked.append((message["cmd"], dict(message["attrs"])))
        answer = kernel_datapath._Datapath(RECORDED)
        answer.decode()
        return (answer,)

    def close(self):
        pass


@pytest.fixture(name="socket")
def _socket(monkeypatch):
    made = Socket()
    monkeypatch.setattr(kernel_datapath, "GenericNetlinkSocket", lambda: made)
    return made


def test_counters_are_those_that_ovs_dpctl_showed(socket):
    assert read_datapath("ovs-system") == COUNTED
    assert read_datapath("ovs-netdev") is None


def test_a_datapath_is_tried_and_removed(socket):
    try_datapath("probe")
    assert socket.asked == [
        (1, {"OVS_DP_ATTR_NAME": "probe", "OVS_DP_ATTR_UPCALL_PID": 0}),
        (2, {"OVS_DP_ATTR_NAME": "probe"}),
    ]


def test_a_kernel_without_open_vswitch_is_said(socket):
    socket.failure = errno.ENOENT
    with pytest.raises(OSError, match="no ovs_datapath"):
        try_datapath("probe")


class Bridge:
    """A bridge's management socket; a double."""

    def __init__(self, path):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ports(self):
        counted = {
            "rx_packets": 127,
            "tx_packets": 127,
            "rx_dropped": 0,
            "tx_dropped": 0,
            "rx_errors": 0,
            "tx_errors": 0,
        }
        return {number: PortCounters(port=number, reasons={}, **counted) for number in (1, 2)}


LINKS = LinkState(switch_netns="/y", core_use="inline", tsc_hz=2000000000)
SWITCH = OvsState(
    database="/d",
    unixctl="/u",
    openflow="/x",
    netns="/y",
    bridge="br0",
    steering="static",
    control_cores=(0,),
    daemon_cores=(0,),
)
CONTROL = LINKS.as_control() | SWITCH.as_control()
PORTS = {"p0": 1, "p1": 2}


@pytest.fixture(name="deployment")
def _deployment(monkeypatch):
    monkeypatch.setattr(kernel_reading, "BridgeController", Bridge)
    monkeypatch.setattr(kernel_reading, "inside", lambda netns, work: COUNTED)
    thread = WorkThread(role=Role.SWITCH, pid=1, tid=1, core=0, name="napi/p0-1")
    return Deployment(
        id="d", variant="ovs-kernel", site="lab", topology="p2p", ports=(), control=CONTROL, threads=(thread,)
    )


def test_work_is_that_of_the_ports_threads(deployment, monkeypatch):
    monkeypatch.setattr(napi, "run_time_ns", lambda tid: 1000)
    found = kernel_reading.counters(deployment, PORTS, taps=False)
    assert (found.packets, found.busy_cycles) == (254, 2000)
    assert found.raw["datapath"]["missed"] == 8


def test_work_in_others_time_is_not_separable(deployment, monkeypatch):
    monkeypatch.setattr(napi, "run_time_ns", lambda tid: 1000)
    assert kernel_reading.counters(deployment, PORTS, taps=True).busy_cycles == NOT_SEPARABLE
    alone = deployment.model_copy(update={"threads": ()})
    assert kernel_reading.counters(alone, PORTS, taps=False).busy_cycles == NOT_SEPARABLE


def test_hops_name_the_datapath_behind_the_first_port(deployment):
    names = [hop.name for hop in kernel_reading.hops(deployment, PORTS)]
    assert names == ["br0 port p0", "br0 datapath", "br0 port p1"]


def test_a_datapath_that_is_gone_is_a_dead_switch(deployment, monkeypatch):
    monkeypatch.setattr(kernel_reading, "inside", lambda netns, work: None)
    with pytest.raises(SwitchDiedError, match="datapath is gone"):
        kernel_reading.hops(deployment, PORTS)
