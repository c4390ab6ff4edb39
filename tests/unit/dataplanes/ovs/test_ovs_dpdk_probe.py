"""The doctor says of ovs-dpdk what a deployment would: with a stand-in for ovs-vswitchd that says an old version."""

import pytest

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.dataplanes.ovs.binaries import OVS_DIRECTORY_VARIABLE, OVSDB_SERVER, OVSDB_TOOL, SCHEMA, VSWITCHD
from nfvbed.dataplanes.ovs.dpdk.adapter import OvsDpdk
from nfvbed.host.fitness import support_of
from nfvbed.records import Readiness


@pytest.fixture(autouse=True)
def old_switch(tmp_path, monkeypatch):
    for name in (VSWITCHD, OVSDB_SERVER, OVSDB_TOOL, SCHEMA):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\necho 'ovs-vswitchd (Open vSwitch) 2.17.9'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv(OVS_DIRECTORY_VARIABLE, str(tmp_path))


@pytest.mark.parametrize(
    ("options", "reason", "fix"),
    [
        ({"pmd_maxsleep_us": 50}, "no pmd-maxsleep: version 2.17", "pmd_maxsleep_us: 0"),
        ({"rxq_affinity": {"p0": (0,)}}, "leaves no thread to poll p1", "leave a thread free"),
        ({"n_rxq": 17}, "receive on as many queues as their other side sends on", "n_rxq: 16 at most"),
    ],
)
def test_what_deploy_refuses_is_unsupported(options, reason, fix):
    values = {"name": "v", "title": "v", "port_kind": "vhost-user", "topologies": ("p2p",)}
    variant = VariantModel.model_validate({**values, "options": {"dataplane": "ovs-dpdk", **options}})
    support = support_of("v", lambda: OvsDpdk().probe(variant))
    assert support.readiness is Readiness.UNSUPPORTED
    assert reason in support.reason
    assert fix in support.fix
