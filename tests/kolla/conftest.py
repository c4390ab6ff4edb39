"""One run of kolla-ansible for each case, two at a time, however many tests read it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.kolla.faults import OF_OVS_DPDK, OF_SRIOV, without_overrides
from tests.kolla.genconfig import ENVIRONMENT, Case, Services, genconfig, make_passwords, share_with_doubles

AT_ONCE = 2
CASES = {
    "ovs-dpdk": Case("ovs-dpdk"),
    "ovs-dpdk, without overrides": Case(
        "ovs-dpdk",
        change=lambda files: without_overrides(files, OF_OVS_DPDK),
        tags="ovs-dpdk,neutron,nova-cell,tacker",
    ),
    "ovs-kernel": Case("ovs-kernel", load_balancer=True),
    "sriov": Case("sriov"),
    "macvtap": Case("macvtap"),
    "ovs-afxdp": Case("ovs-afxdp", tags="openvswitch,neutron,nova-cell"),
    "vpp": Case("vpp", tags="neutron,nova-cell"),
    "ovs-dpdk on two machines": Case("ovs-dpdk", site="rack-two-machines", tags="ovs-dpdk,neutron,nova-cell"),
    "sriov, without overrides": Case(
        "sriov",
        change=lambda files: without_overrides(files, OF_SRIOV),
        tags="neutron,nova-cell",
    ),
}


@pytest.fixture(scope="session", name="services")
def _services(tmp_path_factory) -> Iterator[Callable[[str], Services]]:
    assert (ENVIRONMENT / "bin/kolla-ansible").is_file(), "kolla-ansible is not there: run setup/kolla"
    folder = tmp_path_factory.mktemp("kolla")
    share = share_with_doubles(folder)
    passwords = make_passwords(folder, share)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = {}
        for name, case in CASES.items():
            place = folder / case.name
            place.mkdir()
            made[name] = pool.submit(genconfig, case, place, share, passwords)
        yield lambda name: made[name].result()
