"""The agent of the mobile core's image, once for each of its eight functions, in network namespaces of this machine.

`python -m tests.functional.epc_roles FOLDER` with mount and PID namespaces of its own: names of network namespaces are
its alone, and whatever it starts ends with it. It prints what each function has said, as JSON. What differs from a
guest: nextepc is the unpacked one, NICs are veth devices with the names of their links, SCTP may be the library's.
"""

import json
import os
import re
import secrets
import subprocess
import sys
import time
from pathlib import Path

from agent import program
from agent.refusal import Refusal
from vepcagent import core, edge, network
from vepcagent.console import say
from vepcagent.given import read

from nfvbed.host.qemu.binaries import locate
from nfvbed.patience import patient
from nfvbed.vnfs.descriptors.seedword import with_seed
from nfvbed.vnfs.epc import nextepc, shim
from tests.image.vepc_guests import links_of
from tests.unit.vnfs.descriptors import several

ROOT = Path(__file__).parents[2]
ENB = "ue-enb"
WITHIN_S = patient(60)
_STAYS_S = 3600
_COUNTED = re.compile(r"(\d+) packets transmitted, (\d+) packets received")


def main(folder: Path) -> None:
    """Run all functions until the UE's part is done or has failed, or time is over."""
    seed = secrets.token_hex(16)
    made = several.request(several.EIGHT, soft=True).flavour(several.EIGHT).machines
    words = {one.name: with_seed(one.user_data, seed) for one in made}
    _lay(words)
    children = [_started(folder, name, words[name]) for name in sorted(words, key=ENB.__eq__)]
    deadline = time.monotonic() + WITHIN_S
    while "bearers: " not in (said := _said(folder, ENB)) and "failed: " not in said and time.monotonic() < deadline:
        time.sleep(0.2)
    for child in children:
        child.kill()
    print(json.dumps({name: _said(folder, name).splitlines() for name in words}))


def _lay(words: dict[str, str]) -> None:
    """Make a namespace for each function, and the links: a pair of devices, or a bridge where they have more ends."""
    for name in (*words, "links"):
        network.ip(f"netns add at-{name}")
        network.ip(f"-n at-{name} link set lo up")
    for link in dict.fromkeys(link for one in words.values() for link in links_of(one)):
        ends = [name for name, one in words.items() if link in links_of(one)]
        if len(ends) == 2:
            first, second = ends
            network.ip(f"link add {link} netns at-{first} type veth peer name {link} netns at-{second}")
            continue
        network.ip(f"-n at-links link add {link} type bridge")
        network.ip(f"-n at-links link set {link} up")
        for number, name in enumerate(ends):
            network.ip(f"link add {link} netns at-{name} type veth peer name end{number} netns at-links")
            network.ip(f"-n at-links link set end{number} master {link} up")


def _started(folder: Path, name: str, words: str) -> "subprocess.Popen[bytes]":
    (folder / f"{name}.words").write_text(words)
    environment = os.environ | (shim.environment(ROOT) if name == ENB else {})
    argv = ["ip", "netns", "exec", f"at-{name}", sys.executable, "-m", "tests.functional.epc_roles", str(folder), name]
    with (folder / f"{name}.said").open("wb") as said:
        return subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=said, stderr=subprocess.STDOUT)


def _said(folder: Path, name: str) -> str:
    return (folder / f"{name}.said").read_text(errors="replace")


def play(folder: Path, name: str) -> None:
    """Be one function, as the agent is it in a guest."""
    given = read((folder / f"{name}.words").read_text())
    _fit(folder / name)
    try:
        if set(given.functions) <= core.FUNCTIONS:
            core.Core(given).run()
        else:
            edge.start(given)
    except Refusal as refusal:
        say(f"failed: {refusal.document}")
    time.sleep(_STAYS_S)


def _fit(folder: Path) -> None:
    """Let the agent work on this machine: no modules, other places of programs, devices named by their links."""
    folder.mkdir()
    busybox = str(next(locate(ROOT).program.parents[2].glob("boot/busybox")))
    really_run = program.run

    def run(*argv: str) -> str:
        if argv[0] == "modprobe":
            return ""
        return really_run(*(busybox if word == "/bin/busybox" else word for word in argv))

    core.run = network.run = edge.run = run
    network.devices = lambda given: {link: link for link in given.nics}
    core._RUN, core._LIBRARIES = folder, nextepc.libraries(ROOT)
    really_spawn = core.Core._spawn

    def spawn(self: core.Core, name: str, argv: list[str]) -> None:
        started = [word for word in argv if word not in ("-s", "-S")]
        if name != "store":
            started[0] = str(nextepc.program(name, ROOT))
        core._ENVIRONMENT = nextepc.environment(ROOT) | (shim.environment(ROOT) if name == "mme" else {})
        really_spawn(self, name, started)

    core.Core._spawn = spawn
    edge.write = lambda path, text: None  # settings of the kernel's SCTP
    really_set_up = edge._set_up

    def set_up(given):
        # The library sends from any address, and the MME's guest has no way back to S1-U.
        network.ip("addr flush dev s1-u")
        try:
            return really_set_up(given)
        finally:
            network.ip(f"addr add {given.port('ue-enb.s1-u')} dev s1-u")

    edge._set_up = set_up

    def pinged(server: str, count: int) -> tuple[int, int]:
        argv = ["ip", "netns", "exec", "ue", busybox, "ping", "-c", str(count), "-W", "5", server]
        found = _COUNTED.search(subprocess.run(argv, capture_output=True, text=True, check=False).stdout)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    edge._pinged = pinged


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if len(sys.argv) > 2:
        play(place, sys.argv[2])
    else:
        main(place)
