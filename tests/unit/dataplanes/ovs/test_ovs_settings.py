"""What the switch is started with: settings, environment, rules, ports."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.dataplanes.ovs.dpdk.adapter import ovs_options
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.instance import DpdkSettings, core_mask, private_environment, settings
from nfvbed.dataplanes.ports import memif, vhost_user
from nfvbed.errors import ConfigurationError, DeployError, UnsupportedError
from nfvbed.spec.variant import Variant


def variant(options):
    return Variant(name="v", title="v", port_kind=options.port_kinds[0], topologies=("p2p",), options=options)


def test_settings():
    dpdk = DpdkSettings(socket_memory_mib=256, hugepages=Path("/run/x/hugepages-0"), pmd_cores=(2, 3), main_core=0)
    found = settings(dpdk, "nfvbed-x-ovs")
    assert found["pmd-cpu-mask"] == "0xc"
    assert found["dpdk-lcore-mask"] == "0x1"
    assert found["dpdk-socket-mem"] == "256"
    assert found["dpdk-hugepage-dir"] == "/run/x/hugepages-0"
    assert found["dpdk-extra"] == "--no-pci --iova-mode=va --file-prefix=nfvbed-x-ovs"


def test_memory_is_on_the_nodes_of_the_nics_and_dpdk_may_take_these_alone():
    dpdk = DpdkSettings(256, Path("/run/x"), (2, 3), 0, memory_nodes=(1,), devices=("0000:3b:00.0", "0000:3b:00.1"))
    found = settings(dpdk, "nfvbed-x-ovs")
    assert found["dpdk-socket-mem"] == "0,256"
    assert found["dpdk-extra"] == "--allow=0000:3b:00.0 --allow=0000:3b:00.1 --file-prefix=nfvbed-x-ovs"
    assert DpdkSettings(256, Path("/run/x"), (2,), 0, memory_nodes=(0, 1)).memory_by_node == "256,256"


def test_a_nic_has_queues_as_asked():
    options = OvsDpdkOptions(dataplane="ovs-dpdk", port_type="pci", n_rxq=4)
    assert ovs_options(variant(options)).n_rxq == 4


def test_mask_of_many_cores():
    assert core_mask((0, 64)) == "0x10000000000000001"


def test_nothing_is_written_outside_the_run_directory():
    environment = private_environment(Path("/run/x"), OvsBinaries(Path("/opt/ovs")))
    outside = {name for name, value in environment.items() if value != "/run/x"}
    assert outside == {"OVS_PKGDATADIR"}, "the schema is read there"


def test_options_of_another_data_plane():
    with pytest.raises(ConfigurationError):
        ovs_options(variant(LinuxBridgeOptions(dataplane="linux-bridge")))


@pytest.mark.parametrize(("options", "most"), [({}, 16), ({"port_type": "memif", "pmd_cores": 3}, 4)])
def test_more_queues_than_the_generator_has(options, most):
    wanted = OvsDpdkOptions(dataplane="ovs-dpdk", n_rxq=most, **options)
    assert ovs_options(variant(wanted)).generator_queues == most
    with pytest.raises(UnsupportedError, match="as many queues as their other side") as caught:
        ovs_options(variant(wanted.model_copy(update={"n_rxq": most + 1})))
    assert caught.value.fix == f"n_rxq: {most} at most"


def test_a_nic_deals_out_the_frames_to_its_queues():
    options = OvsDpdkOptions(dataplane="ovs-dpdk", port_type="pci", n_rxq=64)
    assert ovs_options(variant(options)).generator_queues == 1


def test_ports_say_on_how_many_queues_the_generator_sends():
    assert vhost_user.server_port(0, Path("/run/x/p0.sock"), 256).queues == 1
    assert vhost_user.server_port(0, Path("/run/x/p0.sock"), 256, 4).queues == 4
    port = memif.generator_port(1, Path("/run/x/p1.sock"), 1024, queues=memif.queues(2), sending=2)
    assert port.spec.endswith(",rx_queues=3")
    assert port.queues == 2


def test_generator_listens():
    first, second = vhost_user.server_ports((Path("/run/x/p0.sock"), Path("/run/x/p1.sock")), 256)
    assert first.spec == "net_virtio_user0,path=/run/x/p0.sock,server=1,queue_size=256,mac=02:4e:46:56:00:01"
    assert second.spec.startswith("net_virtio_user1,path=/run/x/p1.sock,")


def test_busy_socket(tmp_path):
    (tmp_path / "p1.sock").touch()
    with pytest.raises(DeployError) as caught:
        vhost_user.sockets(tmp_path)
    assert "p1.sock" in caught.value.where
    assert caught.value.fix


def test_memif_clients_ask_for_a_ring_of_each_thread_of_the_switch():
    port = memif.generator_port(1, Path("/run/x/p1.sock"), 1024, queues=memif.queues(1))
    assert port.spec == (
        "net_memif1,role=client,socket=/run/x/p1.sock,socket-abstract=no,id=0,rsize=10,mac=02:4e:46:56:00:02,rx_queues=2"
    )
    looped = memif.generator_port(0, Path("/run/x/loop.sock"), 512, listens=True)
    assert "role=server" in looped.spec
    assert "rsize=9" in looped.spec
    assert "rx_queues" not in looped.spec


def test_memif_has_as_many_polling_threads_as_the_generator_receives_from():
    options = OvsDpdkOptions(dataplane="ovs-dpdk", port_type="memif", pmd_cores=15)
    assert ovs_options(variant(options)) == options
    assert memif.queues(15) == 16
    with pytest.raises(UnsupportedError, match="polling thread") as caught:
        ovs_options(variant(options.model_copy(update={"pmd_cores": 16})))
    assert caught.value.fix.startswith("pmd_cores: 15 at most")
