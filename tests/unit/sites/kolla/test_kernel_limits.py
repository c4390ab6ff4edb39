"""What Kolla takes for granted of a kernel: found before anything is deployed; and a box's own."""

import pytest
import yaml

from nfvbed.errors import UnsupportedError
from nfvbed.sites.kolla import boxglobals
from nfvbed.sites.kolla.boxglobals import BoxHost
from nfvbed.sites.kolla.ownglobals import KollaVariables, own_files
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.preflight.facts import facts_of
from nfvbed.sites.kolla.preflight.kernel import check_kernel, check_variables
from nfvbed.sites.kolla.render import order_pinned, render
from tests.unit.sites.kolla.orders import PROJECT, site
from tests.unit.sites.kolla.rack_facts import as_described

LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max locked memory         8388608              8388608              bytes
Max open files            1024                 20000                files
"""
SMALL = BoxHost(open_files=20000, locked_bytes=8388608, processes=96365, has_datapath=False)
BOX = PROJECT.load_site("box")
KOLLA = {
    "roles/loadbalancer/defaults/main.yml": {"haproxy_max_connections": 40000},
    "group_vars/all/common.yml": {"default_container_dimensions_docker": {"ulimits": {"nofile": {"hard": 1048576}}}},
    "roles/nova-cell/defaults/main.yml": {
        "nova_libvirt_default_dimensions": {"ulimits": {"memlock": {"hard": 67108864}}}
    },
}
"""As kolla-ansible 22.2.0 has it."""


@pytest.fixture(name="root")
def _root(tmp_path):
    folder = tmp_path / ".nfvbed/kolla/share/kolla-ansible/ansible"
    for name, content in KOLLA.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(yaml.safe_dump(content))
    return tmp_path


def known(root, **own):
    folder = root / ".nfvbed/kolla-sites/rack/etc/globals.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.yml").write_text(yaml.safe_dump(own))
    return KollaVariables.of(root, "rack")


def bounded(**changes):
    return {name: facts.model_copy(update=changes) for name, facts in as_described(site()).items()}


def keys(findings):
    return {(one.machine, one.key.rpartition(" ")[2]) for one in findings}


def document(**more):
    answers = dict.fromkeys(("links", "addresses", "routes"), {"status": 0, "out": "", "said": ""})
    return {"files": {}, "answers": answers, "modules": {}, "address": "", **more}


def test_bounds_that_no_process_can_raise():
    files = {"proc/1/limits": LIMITS, "proc/1/status": "CapBnd:\t000001fffeffffff"}
    found = facts_of(document(files=files))
    assert (found.open_files, found.locked_bytes) == (20000, 8388608)
    files["proc/1/status"] = "CapBnd:\t000001ffffffffff"
    found = facts_of(document(files=files))
    assert (found.open_files, found.locked_bytes) == (None, None)


def test_files_of_the_kernel_that_are_not_there():
    assert facts_of(document()).lacks == (), "an older recording does not say"
    lists = {"proc/modules": False, "lib/modules/6.12/modules.builtin": True}
    files = {f"proc/sys/net/ipv4/neigh/default/gc_thresh{number}": "1" for number in (1, 2, 3)}
    files |= {"proc/sys/net/ipv4/ip_nonlocal_bind": "0"}
    found = facts_of(document(module_lists=lists, files=files, modules={"br_netfilter": True}))
    assert found.lacks == ("proc/modules", "proc/sys/net/unix/max_dgram_qlen")
    without = facts_of(document(module_lists=lists, files=files, modules={}))
    assert "proc/sys/net/bridge/bridge-nf-call-iptables" in without.lacks


def test_limits_below_what_kolla_gives(root):
    findings = list(check_kernel(site(), bounded(open_files=20000, locked_bytes=8388608), known(root)))
    assert all(one.stops and "globals.d" in one.key for one in findings)
    names = ("controller", "compute1", "compute2")
    wanted = {(name, "default_container_dimensions_docker") for name in names}
    wanted |= {("controller", "haproxy_max_connections")}
    wanted |= {(name, "nova_libvirt_default_dimensions") for name in names[1:]}
    assert keys(findings) == wanted
    fixes = "\n".join(one.fix for one in findings)
    assert "haproxy_max_connections: 9500" in fixes
    assert "default_container_dimensions_docker: {ulimits: {nofile: {soft: 20000, hard: 20000}}}" in fixes


def test_the_advice_is_enough(root):
    variables = known(
        root,
        haproxy_max_connections=9500,
        default_container_dimensions_docker={"ulimits": {"nofile": {"soft": 20000, "hard": 20000}}},
        nova_libvirt_default_dimensions={},
        set_sysctl=False,
    )
    facts = bounded(open_files=20000, locked_bytes=8388608, lacks=("proc/sys/net/unix/max_dgram_qlen",))
    assert list(check_kernel(site(), facts, variables)) == []
    assert list(check_kernel(site(), as_described(site()), known(root))) == []


def test_settings_and_lists_that_lack(root):
    facts = bounded(lacks=("proc/sys/net/ipv4/neigh/default/gc_thresh1", "proc/sys/net/bridge/bridge-nf-call-iptables"))
    findings = list(check_kernel(site(), facts, known(root)))
    assert keys(findings) == {(name, "set_sysctl") for name in ("controller", "compute1", "compute2")}
    assert all("set_sysctl: false" in one.fix for one in findings)
    (first, *_) = check_kernel(site(), bounded(lacks=("proc/modules",)), known(root, set_sysctl=False))
    assert "role module-load would fail" in first.what and "opens /proc/modules" in first.what


@pytest.mark.parametrize("off", [False, "no", "False"])
def test_without_proxysql_the_database_needs_an_address(root, off):
    (found,) = check_variables(site(), known(root, enable_proxysql=off))
    assert "10.10.0.250:3306" in found.what and "database_address: 10.10.0.10" in found.fix
    for more in ({"database_address": "10.10.0.10"}, {"enable_external_mariadb_load_balancer": True}):
        assert list(check_variables(site(), known(root, enable_proxysql=off, **more))) == []
    assert list(check_variables(site(), known(root))) == []


def test_the_last_file_counts_and_a_vault_is_left_alone(root):
    first = known(root, enable_proxysql=False)
    folder = root / ".nfvbed/kolla-sites/rack/etc/globals.d"
    assert first.is_off("enable_proxysql")
    (folder / "z.yml").write_text("enable_proxysql: true\n")
    (folder / "vault.yml").write_text("secret: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  61\n")
    (folder / "README").write_text("not read")
    assert [path.name for path in own_files(folder.parent)] == ["mine.yml", "vault.yml", "z.yml"]
    found = KollaVariables.of(root, "rack")
    assert not found.is_off("enable_proxysql")
    (remark,) = check_variables(site(), found)
    assert not remark.stops and "vault.yml" in remark.observed and "ANSIBLE_VAULT" not in str(remark)


def test_a_box_has_what_its_own_preflight_wants(root):
    variables = KollaVariables.of(root, "box", boxglobals.rendered(BOX, SMALL))
    facts = bounded(open_files=20000, locked_bytes=8388608, lacks=("proc/sys/net/unix/max_dgram_qlen",))
    assert [*check_kernel(BOX, facts, variables), *check_variables(BOX, variables)] == []


def test_a_box_is_rendered_with_its_host_s_bounds():
    order = order_pinned(pinning_of(PROJECT, BOX, "ovs-dpdk"), BOX, PROJECT.load_kolla_release("2026.1"))
    files = render(order, (), SMALL).files
    found = yaml.safe_load(files["globals.yml"])
    assert found["default_container_dimensions_docker"]["ulimits"]["nofile"] == {"soft": 20000, "hard": 20000}
    assert (found["haproxy_max_connections"], found["database_address"]) == (4000, "10.10.0.10")
    assert (found["set_sysctl"], found["ovs_datapath"], found["nova_libvirt_default_dimensions"]) == (
        False,
        "netdev",
        {},
    )
    assert (found["docker_registry"], found["docker_registry_insecure"]) == ("10.10.0.1:5000", True)
    assert "max_files = {{ qemu_max_files }}" in files["config/nova/qemu.conf.j2"]
    free = yaml.safe_load(render(order, ()).files["globals.yml"])
    assert not {"haproxy_max_connections", "ovs_datapath", "nova_libvirt_default_dimensions"} & set(free)


def test_other_racks_get_nothing_of_it():
    assert boxglobals.rendered(site(), SMALL) == {} and boxglobals.files(site()) == {}
    assert boxglobals.datapath(site(), "system", SMALL) == "system"
    assert boxglobals.datapath(BOX, "system", SMALL) == "netdev"
    assert boxglobals.datapath(BOX, "system", BoxHost()) == "system"
    assert isinstance(boxglobals.this_host(), BoxHost)


def test_what_the_kernel_of_a_box_has_not_is_refused():
    """With Kolla's `ovs_datapath: netdev`, which the controller needs there, it would be another variant's."""
    box = BOX
    kernel, userspace = (PROJECT.load_variant(name) for name in ("ovs-kernel", "ovs-dpdk"))
    with pytest.raises(UnsupportedError, match="ovs-kernel cannot run in a box") as raised:
        boxglobals.require_kernel(box, [userspace, kernel], BoxHost(has_datapath=False))
    assert "no Open vSwitch datapath" in raised.value.observed
    boxglobals.require_kernel(box, [userspace], BoxHost(has_datapath=False))
    boxglobals.require_kernel(box, [kernel], BoxHost(has_datapath=True))
    boxglobals.require_kernel(site(), [kernel], BoxHost(has_datapath=False))
    macvtap = PROJECT.load_variant("macvtap")
    with pytest.raises(UnsupportedError, match="macvtap cannot run in a box") as raised:
        boxglobals.require_kernel(box, [macvtap], BoxHost(has_vlans=False))
    assert "no VLAN devices" in raised.value.observed
    boxglobals.require_kernel(box, [macvtap, userspace], BoxHost())
    boxglobals.require_kernel(site(), [macvtap], BoxHost(has_vlans=False))
    pulls = BOX.model_copy(update={"images": "pull"})
    with pytest.raises(UnsupportedError, match="Kolla's own images cannot run in box box"):
        boxglobals.require_kernel(pulls, [userspace], BoxHost(has_datapath=False))
    boxglobals.require_kernel(pulls, [userspace], BoxHost(has_datapath=True))


def test_a_variant_without_images_of_ours_is_refused_where_images_are_built():
    ovn, pulls = PROJECT.load_variant("ovn-kernel"), BOX.model_copy(update={"images": "pull"})
    with pytest.raises(UnsupportedError, match="ovn-kernel cannot run in box box") as raised:
        boxglobals.require_kernel(BOX, [ovn], BoxHost())
    assert "OVN is not among the images" in raised.value.observed
    boxglobals.require_kernel(pulls, [ovn], BoxHost())
    boxglobals.require_kernel(site(), [ovn], BoxHost())
