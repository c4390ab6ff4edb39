"""Lagopus's configuration, as the file that it reads at its start (lagopus.dsl); its datastore takes the same lines."""

from collections.abc import Iterable, Mapping

from nfvbed.records import Record

BRIDGE = "bridge01"


class Interface(Record):
    """What a port of the bridge is attached to."""

    type: str
    """`ethernet-rawsock` or `ethernet-dpdk-phy`."""
    device: str
    """A network device, or a device of DPDK with its arguments."""


def raw_socket(device: str) -> Interface:
    """Return an interface that is a network device of the kernel."""
    return Interface(type="ethernet-rawsock", device=device)


def vhost_client(number: int, socket_path: str) -> Interface:
    """Return an interface that is the client of a vhost-user socket, whose server is at the other end.

    DPDK has it since 16.07.
    """
    return Interface(type="ethernet-dpdk-phy", device=f"eth_vhost{number},iface={socket_path},client=1")


def interface_name(port: int) -> str:
    """Return the name of a port's interface, given its OpenFlow number."""
    return f"interface{port}"


def configuration(interfaces: Mapping[int, Interface], cables: Iterable[tuple[int, int]]) -> str:
    """Return the configuration of one bridge with all ports, and a pair of rules for each cable.

    Lagopus needs the address of a controller. Nothing listens there in its namespace: its rules are in this file.

    Args:
        interfaces: by the OpenFlow numbers of their ports.
        cables: pairs of these numbers.
    """
    lines = [
        "channel channel01 create -dst-addr 127.0.0.1 -protocol tcp",
        "controller controller01 create -channel channel01 -role equal -connection-type main",
    ]
    for port, interface in interfaces.items():
        lines.append(f"interface {interface_name(port)} create -type {interface.type} -device {interface.device}")
    lines += [f"port port{port} create -interface {interface_name(port)}" for port in interfaces]
    ports = " ".join(f"-port port{port} {port}" for port in interfaces)
    lines.append(f"bridge {BRIDGE} create -controller controller01 {ports} -dpid 0x1")
    lines.append(f"bridge {BRIDGE} enable")
    for first, second in cables:
        lines.append(f"flow {BRIDGE} add in_port={first} apply_actions=output:{second}")
        lines.append(f"flow {BRIDGE} add in_port={second} apply_actions=output:{first}")
    return "\n".join(lines) + "\n"
