"""Which ports testpmd can join to the hosts of socket traffic."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.ports import memif, vhost_user
from nfvbed.errors import UnsupportedError
from nfvbed.records import Deployment
from nfvbed.vnfs.sockets.dpdk_hosts import refuse_several_queues

PATH = Path("/run/x/p0.sock")


def deployed(port):
    return Deployment(id="d", variant="v", site="lab", topology="p2p", ports=(port,))


def test_ports_of_several_queues_are_refused():
    refuse_several_queues(deployed(vhost_user.server_port(0, PATH, 1024)))
    refuse_several_queues(deployed(memif.generator_port(0, PATH, 1024)))
    with pytest.raises(UnsupportedError, match="memif ports of Open vSwitch"):
        refuse_several_queues(deployed(memif.generator_port(0, PATH, 1024, queues=2)))
