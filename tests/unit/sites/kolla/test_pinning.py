"""Variants that are pinned to different computes of a rack: what is rendered, examined, expected and refused."""

import pytest
import yaml

from nfvbed.cli.main import main
from nfvbed.errors import BusyError, ConfigurationError, UsageError
from nfvbed.plan.order import is_exchanged
from nfvbed.sites.kolla.executor.deploying import RackRequest, require_free
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.measured.exchange import wanted_in
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.preflight.checks import preflight
from nfvbed.sites.kolla.preflight.gather import MachineAnswers
from nfvbed.sites.kolla.preflight.report import examine_rack
from nfvbed.sites.kolla.render import render
from nfvbed.sites.kolla.verify.rack import expected_of
from nfvbed.spec.kollarelease import NEWEST
from tests.unit.sites.kolla.orders import PROJECT, changed, pinned, pinned_order, site
from tests.unit.sites.kolla.rack_facts import as_described

SIDE_BY_SIDE = {"compute1": {"variant": "ovs-dpdk"}, "compute2": {"variant": "ovs-kernel"}}
RELEASE = PROJECT.load_kolla_release(NEWEST)


def files(*variants):
    return render(pinned_order(*variants), ()).files


def machine(rendered, name):
    return yaml.safe_load(rendered[f"inventory/host_vars/{name}.yml"])


def test_each_compute_has_its_own_switch():
    rendered = files("ovs-dpdk", "ovs-kernel")
    assert "enable_ovs_dpdk" not in yaml.safe_load(rendered["globals.yml"]), "it would overrule every machine's"
    found = {name: machine(rendered, name) for name in ("controller", "compute1", "compute2")}
    assert {name: one["enable_ovs_dpdk"] for name, one in found.items()} == {
        "controller": False,
        "compute1": True,
        "compute2": False,
    }
    assert "nfvbed_nics_bindings" in found["compute1"] and "nfvbed_nics_bindings" not in found["compute2"]
    assert "reserved_huge_pages" in rendered["config/nova/compute1/nova.conf"]
    assert "reserved_huge_pages" not in rendered["config/nova/compute2/nova.conf"]


def test_computes_of_different_variants_are_prepared_alike():
    """Else their kernels run with different command lines, and twins would be none."""
    rendered = files("ovs-dpdk", "ovs-kernel")
    assert machine(rendered, "compute2")["nfvbed_roles"] == ["nfvbed_host"]
    one, other = (machine(rendered, name) for name in ("compute1", "compute2"))
    prepared = [key for key in one if key.startswith("nfvbed_host_")]
    assert prepared and {key: one[key] for key in prepared} == {key: other[key] for key in prepared}


def test_virtual_functions_beside_another_switch():
    rendered = files("sriov", "ovs-dpdk")
    assert "enable_neutron_sriov" not in yaml.safe_load(rendered["globals.yml"])
    found = {name: machine(rendered, name) for name in ("controller", "compute1", "compute2")}
    assert {name: one["enable_neutron_sriov"] for name, one in found.items()} == {
        "controller": True,
        "compute1": True,
        "compute2": False,
    }
    assert list(found["compute1"]["neutron_sriov_physnet_mappings"]) == ["vf"]
    assert found["compute2"]["neutron_sriov_physnet_mappings"] == {}
    ml2 = rendered["config/neutron/ml2_conf.ini"]
    assert "mechanism_drivers = openvswitch,l2population,sriovnicswitch" in ml2
    assert "device_spec" in rendered["config/nova/compute1/nova.conf"]
    assert "device_spec" not in rendered["config/nova/compute2/nova.conf"]


def test_vpp_comes_before_open_vswitch_which_is_on_every_machine():
    ml2 = files("ovs-kernel", "vpp")["config/neutron/ml2_conf.ini"]
    assert "mechanism_drivers = vpp,openvswitch,l2population" in ml2


def test_one_variant_on_both_is_what_it_is_without_pins():
    assert dict(files("ovs-dpdk", "ovs-dpdk")) == dict(render(pinned_order("ovs-dpdk", "ovs-dpdk"), ()).files)
    order = pinned_order("ovs-dpdk", "ovs-dpdk")
    assert order.pinning.name == "ovs-dpdk" and not order.pinning.is_mixed


def test_ovn_is_on_all_machines_or_none():
    with pytest.raises(ConfigurationError, match="ovn-kernel and ovs-kernel cannot be on one rack") as error:
        pinned_order("ovs-kernel", "ovn-kernel")
    assert "deploy ovn-kernel alone" in error.value.fix


def test_linux_bridge_is_on_all_machines_or_none():
    with pytest.raises(ConfigurationError, match="cannot be on one rack at the same time") as error:
        pinned_order("linux-bridge", "ovs-kernel", release="ocata")
    assert "neutron_plugin_agent" in error.value.observed


def test_a_variant_that_no_compute_is_pinned_to():
    with pytest.raises(UsageError, match="no compute of site rack is pinned to sriov") as error:
        pinning_of(PROJECT, pinned("ovs-dpdk", "ovs-kernel"), "sriov")
    assert error.value.observed == "compute1: ovs-dpdk, compute2: ovs-kernel"


@pytest.mark.parametrize(
    ("computes", "swap", "said"),
    [
        ({"compute1": {"variant": "ovs-dpdk"}}, "never", "it names all computes"),
        ({"compute1": {"variant": "a"}, "controller": {"variant": "b"}}, "never", "it names all computes"),
        ({name: {"variant": "ovs-dpdk"} for name in ("compute1", "compute2")}, "abba", "two variants are exchanged"),
        ({}, "abba", "two variants are exchanged"),
    ],
)
def test_pins_that_make_no_sense(computes, swap, said):
    with pytest.raises(ConfigurationError) as error:
        site(changed(lambda data: data.update(computes=computes, swap=swap)))
    assert said in str(error.value)


def test_the_preflight_asks_each_compute_for_its_own_variant():
    at = pinned("ovs-dpdk", "sriov")
    pinning, facts = pinning_of(PROJECT, at, "ovs-dpdk"), as_described(at)
    assert preflight(at, pinning, RELEASE, facts) == []
    for name in ("compute1", "compute2"):
        facts[name] = facts[name].model_copy(update={"iommu_groups": 0})
    found = preflight(at, pinning, RELEASE, facts)
    assert {one.machine for one in found} == {"compute1", "compute2"}
    assert len({one.what.replace(one.machine, "") for one in found}) > 1, "one NIC is bound, of the other functions"


def test_the_preflight_refuses_what_cannot_be_together():
    at = pinned("linux-bridge", "ovs-kernel")
    release = PROJECT.load_kolla_release("ocata")
    found = preflight(at, pinning_of(PROJECT, at, "ovs-kernel"), release, {})
    assert ["cannot be on one rack" in one.what for one in found].count(True) == 1


def test_what_is_expected_of_each_machine():
    order = pinned_order("ovs-dpdk", "ovs-kernel")
    first, second = expected_of(order, "compute1"), expected_of(order, "compute2")
    assert (first.datapath_type, first.polling, first.takes_hugepages) == ("netdev", (2,), True)
    assert (second.datapath_type, second.polling, second.takes_hugepages) == ("system", (), False)
    afxdp = expected_of(pinned_order("ovs-afxdp", "ovs-kernel"), "compute1")
    assert (afxdp.datapath_type, afxdp.polling) == ("netdev", (2,))


def test_other_pins_are_another_deployment():
    at = pinned("ovs-dpdk", "ovs-kernel", swap="abba")
    first, second = (RackRequest(wanted_in(PROJECT, at, number), at, RELEASE) for number in (1, 2))
    on_it = Journal(
        variant=first.pinning.name, pins=at.pinned, release=RELEASE.name, digest="d", ever_begun=("deploy",)
    )
    assert on_it.variant == "ovs-dpdk on compute1, ovs-kernel on compute2"
    require_free(on_it, first)
    with pytest.raises(BusyError, match="has another variant"):
        require_free(on_it, second)


def test_twins_exchange_in_every_other_pair_of_rounds():
    assert [is_exchanged(number) for number in range(1, 9)] == [False, True, True, False] * 2
    at = pinned("ovs-dpdk", "ovs-kernel", swap="abba")
    names = [{host: one.name for host, one in wanted_in(PROJECT, at, n).variants.items()} for n in (1, 2, 3, 4)]
    plain, turned = names[0], names[1]
    assert plain == {"compute1": "ovs-dpdk", "compute2": "ovs-kernel"}
    assert turned == {"compute1": "ovs-kernel", "compute2": "ovs-dpdk"}
    assert names == [plain, turned, turned, plain]


def test_a_plan_says_in_which_rounds_twins_have_each_others_variant(tmp_path, capsys):
    for name in ("flavors", "vnfd", "kolla", "vsperf-conf", "tosca", "images"):
        (tmp_path / name).symlink_to(PROJECT.root / name)
    (tmp_path / "deploy" / "sites").mkdir(parents=True)
    (tmp_path / "deploy" / "variants").symlink_to(PROJECT.variants_folder)
    data = yaml.safe_load(changed(lambda site: site.update(name="mine", swap="abba", computes=SIDE_BY_SIDE)))
    (tmp_path / "deploy" / "sites" / "mine.yml").write_text(yaml.safe_dump(data))
    names = [word for name in ("ovs-dpdk", "ovs-kernel") for word in ("--variant", name)]
    assert main(["plan", "pvp", "--root", str(tmp_path), "--site", "mine", *names]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rounds 2, 3, 6, 7" in said and "ovs-kernel on compute1, ovs-dpdk on compute2 (swap: abba)" in said


def test_the_doctor_examines_pinned_variants_together(monkeypatch):
    at = pinned("ovs-dpdk", "ovs-kernel")
    monkeypatch.setattr(
        "nfvbed.sites.kolla.preflight.report.gather", lambda *_, **__: MachineAnswers(as_described(at), ())
    )
    monkeypatch.setattr("nfvbed.sites.kolla.collectionfolders.found", lambda root: root)
    variants = [PROJECT.load_variant(name) for name in ("ovs-dpdk", "ovs-kernel", "vpp")]
    found = examine_rack(PROJECT, at, RELEASE, variants)
    assert {one.variant: one.readiness.value for one in found.variants} == {"ovs-dpdk": "ready", "ovs-kernel": "ready"}
    assert found.faults == ()


def test_the_verb_refuses_a_variant_that_is_not_pinned(tmp_path, monkeypatch):
    at = pinned("ovs-dpdk", "ovs-kernel")
    monkeypatch.setattr("nfvbed.spec.loader.Project.load_site", lambda *_: at)
    assert main(["kolla", "render", "vpp", "--site", "rack", "--output", str(tmp_path / "etc")]) == 2
    assert main(["kolla", "render", "ovs-kernel", "--site", "rack", "--output", str(tmp_path / "etc")]) == 0
    assert (tmp_path / "etc/inventory/host_vars/compute1.yml").is_file()
