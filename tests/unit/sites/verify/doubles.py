"""Doubles of a machine and of a cloud that runs: what they answer is written here, in the forms of the real ones."""

import json
from types import SimpleNamespace

from nfvbed.cloud.verify.commands import Answer, MachineCommands

HOST = "controller"
PORT = "vhu0a1b2c3d-4e"
RXQ = """Displaying last 60 seconds pmd usage %
pmd thread numa_id 0 core_id {core}:
  isolated : false
  port: {port}    queue-id:  0 (enabled)   pmd usage:  0 %
  overhead:  0 %
"""
SYSFS = """/sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages:0
/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages:960
/sys/devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages:0
/sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages:390
/sys/bus/pci/devices/0000:af:00.0/sriov_numvfs:8
"""


def table(headings, *rows):
    """Return a table as `ovs-vsctl --format=json` writes it."""
    return json.dumps({"headings": headings, "data": rows})


def dictionary(**pairs):
    """Return a map of Open vSwitch's database."""
    return ["map", [[key.replace("_", "-"), value] for key, value in pairs.items()]]


class MachineDouble(MachineCommands):
    """A machine with an instance whose port is polled on core 0; its parts can be changed."""

    def __init__(self, host=HOST, mask="0x1", core=0, datapath="netdev", error="", state="connected", ports=(PORT,)):
        super().__init__(host)
        self.maps = Answer(0, "", "")
        interfaces = [[name, "dpdkvhostuserclient", ["set", []], dictionary(status=state)] for name in ports]
        interfaces.append(["br-int", "internal", error or ["set", []], dictionary(driver_name="tun")])
        self.tables = {
            "Bridge": table(["name", "datapath_type"], ["br-int", datapath], ["br-data0", "netdev"]),
            "Open_vSwitch": table(["other_config"], [dictionary(pmd_cpu_mask=mask)]),
            "Interface": table(["name", "type", "error", "status"], *interfaces),
        }
        self.shown = "".join(RXQ.format(core=core, port=name) for name in ports)
        self.dead = False

    def on_machine(self, argv):
        """Answer what is read of sysfs."""
        return Answer(0, SYSFS, "")

    def by_switch(self, argv):
        """Answer as the switch's tools."""
        if self.dead:
            return Answer(1, "", f"{argv[0]}: unix:/run/openvswitch/db.sock: database connection failed")
        if argv[0] == "sh" and "numa_maps" in argv[-1]:
            return self.maps
        return Answer(0, self.tables[argv[-1]] if argv[0] == "ovs-vsctl" else self.shown, "")


def cloud(agents=(), services=(), ports=()):
    """Return a double of openstacksdk's connection."""
    return SimpleNamespace(
        network=SimpleNamespace(agents=lambda: list(agents), ports=lambda: list(ports)),
        compute=SimpleNamespace(services=lambda: list(services)),
    )


def agent(binary, alive=True, host=HOST, enabled=True):
    """Return an agent as the SDK has it."""
    return SimpleNamespace(host=host, binary=binary, is_alive=alive, is_admin_state_up=enabled)


def service(binary, state="up", status="enabled", host=HOST):
    """Return a service of Nova's as the SDK has it."""
    return SimpleNamespace(host=host, binary=binary, state=state, status=status)


def port(status="ACTIVE", vif_type="vhostuser", host=HOST, owner="compute:nova"):
    """Return a port as the SDK has it."""
    return SimpleNamespace(
        id="0a1b2c3d", status=status, binding_vif_type=vif_type, binding_host_id=host, device_owner=owner
    )
