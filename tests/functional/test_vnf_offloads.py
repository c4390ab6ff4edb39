"""`offloads: false` reaches the data plane: frames for a VNF have their checksums completed before. As root."""

import pytest
from pyroute2.ethtool.ioctl import IoctlEthtool

from nfvbed.host.network.namespaces import inside
from nfvbed.records import QualityWarning, VnfKind
from nfvbed.vnfs.offload import REMEDY, ChecksumPath, probe_checksums
from tests.functional.vm_guests import PROJECT, choice

pytestmark = pytest.mark.no_hugepages

MACS = ("02:4e:46:56:00:00", "02:4e:46:56:00:01")


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def raw(kind, offloads):
    return choice("raw").model_copy(update={"kind": kind, "offloads": offloads})


def leaves_checksums(netns, name):
    """Whether the kernel leaves checksums to a device."""

    def read():
        device = IoctlEthtool(name)
        try:
            return bool(device.get_features()["tx-checksum-ip-generic"])
        finally:
            device.close()

    return inside(netns, read)


def deployed(site, chosen):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", vnf=chosen)
    site.close_generators(deployment)
    return deployment


@pytest.mark.parametrize("offloads", [True, False])
def test_raw_process_behind_a_bridge(site, offloads):
    deployment = deployed(site, raw(VnfKind.PROCESS, offloads))
    switch = deployment.control["switch_netns"]
    own = deployment.vnf_ports[0][0]
    assert [leaves_checksums(switch, name) for name in ("v1a", "v1b")] == [offloads] * 2
    assert leaves_checksums(own.netns, own.address) is offloads
    assert leaves_checksums(switch, "s0"), "the ports that lead outside stay as the variant has them"
    report = probe_checksums(deployment, MACS)
    assert report.result is (ChecksumPath.BROKEN if offloads else ChecksumPath.COMPLETED), report.observed
    assert report.remedy == (REMEDY if offloads else "")
    assert site.warnings(deployment, ()) == ((QualityWarning.OFFLOADS_ON,) if offloads else ())
    site.destroy(deployment)


@pytest.mark.parametrize(("offloads", "result"), [(True, ChecksumPath.KEPT), (False, ChecksumPath.COMPLETED)])
def test_a_bridge_that_is_a_vnf_breaks_none(site, offloads, result):
    chosen = choice("bridge").model_copy(update={"kind": VnfKind.PROCESS, "offloads": offloads})
    deployment = deployed(site, chosen)
    report = probe_checksums(deployment, MACS)
    assert (report.result, report.remedy) == (result, ""), report.observed
    site.destroy(deployment)


@pytest.mark.slow
@pytest.mark.usefixtures("vloop_image")
@pytest.mark.parametrize("offloads", [True, False])
def test_raw_guest_behind_a_bridge(site, offloads):
    deployment = deployed(site, raw(VnfKind.VM, offloads))
    switch = deployment.control["switch_netns"]
    assert leaves_checksums(switch, "v1a") is offloads, "QEMU tells the tap what the guest takes"
    states = deployment.vnfs[0].facts["forward"]["offloads"]
    assert [state["tx"] for state in states] == [offloads] * 2
    assert site.warnings(deployment, ()) == ((QualityWarning.OFFLOADS_ON,) if offloads else ())
    report = probe_checksums(deployment, MACS)
    assert report.result is (ChecksumPath.BROKEN if offloads else ChecksumPath.COMPLETED), report.observed
    site.destroy(deployment)
