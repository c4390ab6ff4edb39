"""The own gateway on DPDK opens its ports as the switch at their other ends expects them."""

from pathlib import Path

from nfvbed.dataplanes.ports import memif, vhost_user
from nfvbed.spec.layout import End
from nfvbed.vnfs.epc.owngateway import vdev


def test_a_memif_has_as_many_rings_each_way_as_the_switch_polls():
    """A queue of the switch's that has no ring would read that of another one, and double its frames."""
    port = memif.vnf_port(End(1, 0), Path("/run/x/v1a.sock"), 1024, queues=memif.queues(1))
    assert vdev(0, port) == (
        "net_memif0,role=client,socket=/run/x/v1a.sock,socket-abstract=no,id=0,rsize=10,"
        f"mac={port.mac},rx_queues=2,tx_queues=2"
    )


def test_a_vhost_user_socket_is_served():
    port = vhost_user.vnf_port(End(1, 1), Path("/run/x/v1b.sock"), 1024, 1)
    assert vdev(1, port).startswith("net_virtio_user1,path=/run/x/v1b.sock,server=1,queues=1,")
