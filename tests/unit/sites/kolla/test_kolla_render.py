"""From one variant to the files of either release."""

import pytest
import yaml

from nfvbed.errors import ConfigurationError, PrerequisiteError, UnsupportedError
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.kolla.inventory import groups_file
from nfvbed.sites.kolla.render import order_of, render
from tests.kolla.genconfig import read_ini
from tests.unit.sites.kolla.orders import PROJECT, changed, order, rendering, site, without_pci

RELEASES = PROJECT.kolla_release_names


def variables(files, host):
    return yaml.safe_load(files[f"inventory/host_vars/{host}.yml"])


def test_cores_of_guests_have_the_releases_name():
    new = read_ini(rendering("sriov").files["config/nova/compute1/nova.conf"])
    old = read_ini(rendering("sriov", "ocata").files["config/nova/compute1/nova.conf"])
    assert new["compute"]["cpu_dedicated_set"] == ["2-7,10-15,18-23,26-31"]
    assert new["compute"]["cpu_shared_set"] == ["0-1,8-9,16-17,24-25"]
    assert old["DEFAULT"]["vcpu_pin_set"] == new["compute"]["cpu_dedicated_set"]
    assert "compute" not in old


def test_functions_have_the_releases_name():
    device = '{"address": "0000:af:00.0", "physical_network": "vf"}'
    assert read_ini(rendering("sriov").files["config/nova/compute1/nova.conf"])["pci"] == {"device_spec": [device]}
    old = read_ini(rendering("sriov", "ocata").files["config/nova/compute1/nova.conf"])
    assert old["pci"] == {"passthrough_whitelist": [device]}


def test_queues_are_asked_for_where_the_release_looks():
    def multiqueue(release):
        guests = yaml.safe_load(rendering("ovs-kernel", release).files["nfvbed/guests.yml"])
        return next(one for one in guests["flavors"] if one["name"] == "nfvbed.multiqueue"), guests["unsupported"]

    flavor, lacking = multiqueue("2026.1")
    assert flavor["extra_specs"]["hw:vif_multiqueue_enabled"] == "true"
    assert "image_properties" not in flavor and lacking == {}
    flavor, lacking = multiqueue("ocata")
    assert "hw:vif_multiqueue_enabled" not in flavor["extra_specs"]
    assert flavor["image_properties"] == {"hw_vif_multiqueue_enabled": "true"}
    assert set(lacking) == {"emulator-threads", "realtime"}
    assert "Ocata does not have" in lacking["emulator-threads"]


def test_linux_bridges_agents_know_each_network_s_nic():
    files = rendering("linux-bridge", "ocata").files
    found = read_ini(files["config/neutron/controller/ml2_conf.ini"])["linux_bridge"]["physical_interface_mappings"]
    assert found == [
        "provider:{{ nfvbed_nic_external_provider }},data:{{ nfvbed_nic_dpdk_data }},vf:{{ nfvbed_nic_sriov_vf }}"
    ]


def test_ocatas_agents_read_the_plugins_file():
    files = rendering("ovs-kernel", "ocata").files
    assert "config/neutron/compute1/ml2_conf.ini" in files
    assert not [path for path in files if path.endswith("openvswitch_agent.ini")]


@pytest.mark.parametrize("variant", ["ovs-dpdk", "ovs-kernel", "sriov", "macvtap", "ovs-afxdp", "vpp"])
def test_what_differs_between_machines_is_not_in_globals(variant):
    files = rendering(variant).files
    of_all = yaml.safe_load(files["globals.yml"])
    of_one = {name for host in order(variant).hosts for name in variables(files, host)}
    assert set(of_all) & of_one == set()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("variant", ["ovs-kernel", "sriov"])
def test_no_nic_is_named(variant, release):
    files = rendering(variant, release).files
    for host, spec in order(variant, release).hosts.items():
        found = variables(files, host)
        names = {value for key, value in found.items() if key.startswith("nfvbed_nic_")}
        assert len(names) == len(spec.nics)
        links = [text for path, text in files.items() if path.startswith(f"nfvbed/links/{host}/")]
        places = " ".join(names if release == "2026.1" else links)
        assert all((nic.pci or nic.mac) in places for nic in spec.nics)
        assert release == "2026.1" or {text.partition("Name=")[2].strip() for text in links} == names
        of_nic = "{{ nfvbed_nic_management }}"
        assert found["network_interface"] == of_nic or (
            release == "2026.1" and spec.address in found["network_interface"]
        )


def test_tacker_keeps_the_keys_of_vims_where_server_and_conductor_see_them():
    text = rendering("ovs-kernel").files["config/tacker.conf"]
    assert "[vim_keys]\nopenstack = /var/lib/tacker/csar_files/vim_keys\n" in text
    assert "config/tacker.conf" not in rendering("ovs-kernel", "ocata").files


def test_masks_are_of_the_site_and_of_the_variants_threads():
    def masks(at=None):
        return variables(rendering("ovs-dpdk", at=at).files, "compute1")["nfvbed_ovs_dpdk_other_config"]

    assert masks() == {"pmd-cpu-mask": "0x4", "dpdk-lcore-mask": "0x2"}

    def moved(data):
        data["hosts"]["compute1"]["nics"][1]["numa_node"] = 1

    assert masks(site(changed(moved))) == {"pmd-cpu-mask": "0x400", "dpdk-lcore-mask": "0x100"}


def test_a_nic_that_dpdk_takes_has_a_given_name_and_the_roles_its_address():
    found = variables(rendering("ovs-dpdk").files, "compute1")
    assert found["nfvbed_nic_dpdk_data"] == "dpdata"
    assert found["nfvbed_ovs_dpdk_ports"] == [
        {
            "name": "dpdata",
            "bridge": "br-data",
            "pci": "0000:3b:00.0",
            "devargs": "0000:3b:00.0",
            "driver": "vfio-pci",
            "n_rxq": 1,
            "n_rxq_desc": 1024,
            "mtu_request": 9000,
            "affinity": "",
        }
    ]
    assert found["nfvbed_nics_bindings"] == [{"pci": "0000:3b:00.0", "driver": "vfio-pci"}]
    assert "selectattr" in variables(rendering("ovs-afxdp").files, "compute1")["nfvbed_nic_dpdk_data"]


def test_a_nic_without_a_pci_address_is_a_packet_socket_on_its_device():
    found = variables(rendering("ovs-dpdk", at=site(without_pci())).files, "compute1")
    (port,) = found["nfvbed_ovs_dpdk_ports"]
    assert (port["pci"], port["devargs"], port["driver"]) == ("", "net_af_packet0", "af_packet")
    assert "'equalto', '52:54:00:30:00:0b'" in port["kernel_device"] and port["kernel_device"].endswith(".device }}")
    assert found["nfvbed_nic_dpdk_data"] == "dpdata", "the name of Open vSwitch's port, not of the device"
    assert found["nfvbed_nics_bindings"] == [], "no driver is bound: the device stays with the kernel"


def test_threads_of_machines_that_share_cores_sleep_from_the_first_port_on():
    """Those of a box; on a rack nothing is set that the variant does not have."""
    rack = variables(rendering("ovs-dpdk").files, "compute1")
    assert "nfvbed_ovs_dpdk_first" not in rack and "pmd-maxsleep" not in rack["nfvbed_ovs_dpdk_other_config"]
    box = variables(rendering("ovs-dpdk", at=site(name="box")).files, "compute1")
    assert box["nfvbed_ovs_dpdk_first"] == {"pmd-maxsleep": "500", "pmd-sleep-max": "500"}
    assert box["nfvbed_ovs_dpdk_other_config"].items() >= box["nfvbed_ovs_dpdk_first"].items()
    afxdp = variables(rendering("ovs-afxdp", at=site(name="box")).files, "compute1")
    assert afxdp["nfvbed_afxdp_other_config"]["pmd-sleep-max"] == "500"


def test_a_nic_of_mellanox_keeps_its_driver_and_is_found_by_its_mac_address():
    def mellanox(data):
        nic = {"role": "dpdk", "mac": "52:54:00:20:00:01", "driver": "mlx4_core", "network": "data"}
        data["hosts"]["compute1"]["nics"][1] = nic

    found = variables(rendering("ovs-dpdk", at=site(changed(mellanox))).files, "compute1")
    port = found["nfvbed_ovs_dpdk_ports"][0]
    assert port["devargs"] == "class=eth,mac=52:54:00:20:00:01"
    assert port["pci"].endswith(".pciid }}") and "'52:54:00:20:00:01'" in port["pci"]
    assert found["nfvbed_nics_bindings"] == []


def with_threads(change):
    """Return the variant ovs-dpdk with other options."""
    variant = PROJECT.load_variant("ovs-dpdk")
    return variant.model_copy(update={"options": variant.options.model_copy(update=change)})


def test_queues_are_given_to_threads_of_the_nics_node():
    variant = with_threads({"pmd_cores": 3, "n_rxq": 2, "rxq_affinity": {"p0": (0, 1)}})

    def moved(data):
        data["hosts"]["compute1"]["nics"][1]["numa_node"] = 1

    release = PROJECT.load_kolla_release("2026.1")
    files = render(order_of(variant, site(changed(moved)), release), ()).files
    assert variables(files, "compute1")["nfvbed_ovs_dpdk_ports"][0]["affinity"] == "0:10,1:11"
    assert variables(files, "compute2")["nfvbed_ovs_dpdk_ports"][0]["affinity"] == "0:2,1:3"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"pmd_cores": 2, "rxq_affinity": {"v1a": (0,)}}, "names v1a, and compute1 has no such port"),
        ({"pmd_cores": 1, "rxq_affinity": {"p0": (0,)}}, "leaves no thread of NUMA node 0 of compute1"),
    ],
)
def test_affinity_that_a_machine_cannot_have_is_refused(change, what):
    with pytest.raises(UnsupportedError, match=what) as refused:
        order_of(with_threads(change), site(), PROJECT.load_kolla_release("2026.1"))
    assert refused.value.where == "deploy/variants/ovs-dpdk.yml options.rxq_affinity"


def test_afxdp_s_computes_have_the_userspace_datapath_and_no_hugepages():
    files = rendering("ovs-afxdp").files
    found = variables(files, "compute1")
    assert (found["ovs_datapath"], found["nfvbed_afxdp_type"]) == ("netdev", "afxdp")
    assert found["nfvbed_afxdp_other_config"] == {"pmd-cpu-mask": "0x4"}
    assert found["nfvbed_afxdp_ports"] == [{"name": "{{ nfvbed_nic_dpdk_data }}", "bridge": "br-data", "affinity": ""}]
    assert "ovs_datapath" not in variables(files, "controller")
    assert "reserved_huge_pages" not in files["config/nova/compute1/nova.conf"]
    agent = read_ini(files["config/neutron/compute1/openvswitch_agent.ini"])
    assert agent == {"securitygroup": {"firewall_driver": ["openvswitch"]}}
    by_interrupt = variables(rendering("ovs-afxdp-interrupt").files, "compute1")
    assert by_interrupt["nfvbed_afxdp_type"] == "afxdp-nonpmd" and by_interrupt["nfvbed_afxdp_polling_cores"] == []


def test_vpp_s_computes_have_its_settings_and_neutrons_server_its_driver():
    files = rendering("vpp").files
    found = variables(files, "compute1")
    assert "dev 0000:3b:00.0 { name data " in found["nfvbed_vpp_startup"]
    assert "corelist-workers 2\n" in found["nfvbed_vpp_startup"] and "page-size 1G\n" in found["nfvbed_vpp_startup"]
    assert found["nfvbed_vpp_agent"]["uplinks"] == {"data": {"kind": "interface", "address": "data"}}
    assert "neutron_external_interface" not in found
    assert variables(files, "controller")["nfvbed_roles"] == ["nfvbed_vpp", "nfvbed_tacker", "nfvbed_horizon"]
    ml2 = read_ini(files["config/neutron/ml2_conf.ini"])
    assert ml2["ml2"]["mechanism_drivers"] == ["vpp,openvswitch,l2population"]
    of_all = yaml.safe_load(files["globals.yml"])
    driver = "/opt/nfvbed/neutron/nfvbed:/var/lib/kolla/venv/lib/python3.13/site-packages/nfvbed:ro"
    assert driver in of_all["neutron_rpc_server_extra_volumes"]
    guests = yaml.safe_load(files["nfvbed/guests.yml"])["flavors"]
    assert {flavor["extra_specs"]["hw:mem_page_size"] for flavor in guests} == {"large"}


def test_vpp_s_nics_are_known_by_pci_address():
    def by_mac(data):
        nic = {"role": "dpdk", "mac": "52:54:00:20:00:01", "driver": "mlx5_core", "network": "data"}
        data["hosts"]["compute1"]["nics"][1] = nic

    with pytest.raises(ConfigurationError, match="for variant vpp has no PCI address"):
        order("vpp", at=site(changed(by_mac)))


@pytest.mark.parametrize("variant", ["macvtap", "vpp"])
def test_a_controller_cannot_share_the_nic(variant):
    with pytest.raises(UnsupportedError, match="compute1 is controller and compute"):
        order(variant, at=site(name="rack-two-machines"))


def test_images_that_a_release_does_not_have_are_refused():
    def centos(data):
        data["base_distro"] = "centos"

    with pytest.raises(UnsupportedError, match="OpenStack 2026.1 has no images of centos") as refused:
        order("ovs-kernel", at=site(changed(centos)))
    assert "debian, rocky, ubuntu" in refused.value.fix
    assert order("ovs-kernel", "ocata", site(changed(centos)))


def test_horizon_gets_its_panel_where_it_can_have_one():
    volumes = yaml.safe_load(rendering("ovs-kernel").files["globals.yml"])["horizon_extra_volumes"]
    assert len(volumes) == 4 and all(volume.startswith("/opt/nfvbed/horizon/") for volume in volumes)
    assert "horizon_extra_volumes" not in rendering("ovs-kernel", "ocata").files["globals.yml"]


def test_a_container_has_the_image_of_its_own_service():
    """Kolla's start command for a service names programs of that service's image, and another image may lack them."""
    for variant in ("ovs-dpdk", "ovs-kernel", "sriov", "macvtap", "ovs-afxdp", "vpp"):
        files = rendering(variant).files
        named = {key for text in files.values() for line in text.splitlines() if (key := line.split(":")[0].strip())}
        assert not {key for key in named if key.endswith("_image")}, variant


def test_the_management_nic_is_no_data_planes():
    for variant in ("ovs-dpdk", "ovs-kernel", "sriov", "macvtap", "ovs-afxdp", "vpp"):
        files = rendering(variant).files
        for host in order(variant).hosts:
            users = {
                key: value for key, value in variables(files, host).items() if "nfvbed_nic_management" in str(value)
            }
            # Which NICs no other driver may get.
            assert set(users) == {"nfvbed_nics_management"}


def test_the_controller_has_a_bridge_for_networks_of_functions():
    found = variables(rendering("sriov").files, "controller")
    assert found["neutron_bridge_name"] == "br-provider,br-data,br-vf"
    assert found["neutron_physical_networks"] == "provider,data,vf"
    assert found["neutron_sriov_physnet_mappings"] == {}


@pytest.mark.parametrize(
    ("variant", "release", "what", "fix"),
    [
        ("linux-bridge", "2026.1", "cannot be deployed with OpenStack 2026.1", "--release ocata"),
        ("ovs-dpdk", "ocata", "cannot be deployed with OpenStack Ocata", "--release 2026.1"),
        ("macvtap", "ocata", "cannot be deployed with OpenStack Ocata", "--release 2026.1"),
        ("vpp", "ocata", "cannot be deployed with OpenStack Ocata", "--release 2026.1"),
        ("ovs-afxdp", "ocata", "cannot be deployed with OpenStack Ocata", "--release 2026.1"),
        (
            "vale",
            "2026.1",
            "cannot be deployed",
            "one of macvtap, ovn-kernel, ovs-afxdp, ovs-dpdk, ovs-kernel, sriov, vpp",
        ),
        ("ovs-dpdk-memif", "2026.1", "has options that a cloud does not have", "another variant of ovs-dpdk"),
        ("macvtap-vepa", "2026.1", "has options that a cloud does not have", "another variant of macvtap"),
    ],
)
def test_what_a_release_cannot_do_is_unsupported_with_what_can(variant, release, what, fix):
    with pytest.raises(UnsupportedError) as refused:
        order(variant, release)
    assert what in refused.value.what
    assert fix in refused.value.fix
    assert refused.value.observed


@pytest.mark.parametrize("variant", ["macvtap", "sriov", "ovs-dpdk", "ovs-afxdp", "vpp"])
def test_a_compute_without_the_nic_is_an_error_of_the_sites_file(variant):
    wanted = "sriov" if variant == "sriov" else "dpdk"

    def without(data):
        nics = data["hosts"]["compute2"]["nics"]
        data["hosts"]["compute2"]["nics"] = [nic for nic in nics if nic["role"] != wanted]

    with pytest.raises(ConfigurationError, match="compute2 has no NIC") as refused:
        order(variant, at=site(changed(without)))
    assert refused.value.where == "deploy/sites/rack.yml hosts.compute2.nics"
    assert wanted in refused.value.fix


def test_too_few_cores_name_the_sites_file():
    def none_isolated(data):
        data["hosts"]["compute1"]["numa"][0]["isolated"] = ""

    with pytest.raises(ConfigurationError) as refused:
        order("ovs-dpdk", at=site(changed(none_isolated)))
    assert refused.value.where == "deploy/sites/rack.yml hosts.compute1.numa[0].isolated"


def test_an_external_nic_beside_dpdk_is_not_taken_without_a_word():
    def external(data):
        nic = {"role": "external", "pci": "0000:01:00.1", "network": "provider"}
        data["hosts"]["compute1"]["nics"].append(nic)

    at = site(changed(external))
    with pytest.raises(UnsupportedError, match="compute1 has a NIC for external networks apart"):
        order("ovs-dpdk", at=at)
    assert order("ovs-kernel", at=at)


def test_two_machines_serve():
    at = site(name="rack-two-machines")
    found = rendering("ovs-dpdk", at=at).files
    assert variables(found, "compute1")["enable_ovs_dpdk"] is True
    control, _, rest = found["inventory/hosts"].partition("[network]")
    assert control.split() == ["[control]", "compute1"]
    assert rest.partition("[compute]")[2].split()[:2] == ["compute1", "compute2"]


def test_kollas_groups_lose_its_example_machines():
    text = "# x\n[control]\ncontrol01\n\n[network]\nn1\n[compute]\nc[01:03]\n[deployment]\nlocalhost\n"
    text += "[nova:children]\ncontrol\n"
    lines = groups_file(text).splitlines()
    assert lines == ["[control]", "[network]", "[compute]", "[deployment]", "[nova:children]", "control"]
    with pytest.raises(PrerequisiteError, match="no inventory of Kolla's"):
        groups_file("[all]\nlocalhost\n")


def test_nothing_is_deployed_and_it_says_so():
    with pytest.raises(UnsupportedError, match="site rack has no cloud"):
        open_site(site(), PROJECT.root)


def test_computes_are_prepared_as_the_site_says_whatever_the_variant():
    found = []
    for variant in ("ovs-dpdk", "ovs-kernel", "macvtap"):
        own = variables(rendering(variant).files, "compute1")
        found.append({key: value for key, value in own.items() if key.startswith("nfvbed_host_")})
    assert found[0] == {
        "nfvbed_host_isolated_cores": "2-7,10-15,18-23,26-31",
        "nfvbed_host_hugepages": [
            {"node": node, "size_kib": size_kib, "count": count}
            for node in (0, 1)
            for size_kib, count in ((1048576, 16), (2048, 4096))
        ],
        "nfvbed_host_iommu": True,
        "nfvbed_host_governor": "performance",
    }
    assert found[1:] == found[:1] * 2
    controllers = variables(rendering("ovs-dpdk").files, "controller")
    assert not [key for key in controllers if key.startswith("nfvbed_host_")]


def test_nova_leaves_the_switch_what_it_holds_and_dpdk_is_asked_for_what_the_variant_says():
    files = rendering("ovs-dpdk").files
    assert "node:0,size:1048576,count:4" in files["config/nova/compute1/nova.conf"]
    found = yaml.safe_load(files["inventory/host_vars/compute1.yml"])
    assert found["ovs_socket_mem"] == "1024,1024", "in whole pages"
