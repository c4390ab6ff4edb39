"""The generator at two ports of a switch, as the peer at their far ends."""

from pathlib import Path

from nfvbed.dataplanes.ports import vhost_user
from nfvbed.host.generator import GeneratorStarter
from nfvbed.measure.trial import wait_for_links
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT
from tests.functional.disturbed import retried

TRICKLE = TrafficRequest(
    duration_ns=2_000_000_000, frame_size=64, rate_pps=5_000, frames=1000, flows=2, learning_frames=0
)


def generator_between(site, deployment, sockets, good):
    """Start the generator at two of the switch's ports, as the virtio side of both; give its result and the hops.

    A vhost-user port's counters go with its peer, so they are read while the generator runs.

    Args:
        site: where.
        deployment: of the switch.
        sockets: of both ports.
        good: the trial is made until it says so of its directions, a few times at most.
    """
    ports = tuple(vhost_user.server_port(index, Path(path), 1024) for index, path in enumerate(sockets))
    starter = GeneratorStarter(
        site.host_view(deployment).workspace, site.host_view(deployment).arrangement, 256, PROJECT.root
    )
    generator = starter.start(deployment.model_copy(update={"ports": ports, "topology": "p2p"}))
    try:
        wait_for_links(generator)
        generator.run(TrafficRequest(duration_ns=100_000_000, frame_size=64, rate_pps=1_000))
        directions = retried(lambda: generator.run(TRICKLE).directions, good)
        return directions, site.hops(deployment)
    finally:
        generator.close()


def socket_of(deployment, name):
    found = {port.name: port.address for ports in deployment.vnf_ports for port in ports}
    return found.get(name) or f"{deployment.run_directory}/{name}.sock"
