"""A double of netmap's vale-ctl: switches are bridges of the kernel, so frames pass; its answers are as vale-ctl's.

Written after apps/vale-ctl/vale-ctl.c: nothing but -a, -d and the list; a list ends with exit status 1. It is started
some fifty times in a test, so it calls iproute2: a library for netlink would take a quarter of a second to import.
"""

import json
import subprocess
import sys


def ip(*arguments):
    """Call ip(8)."""
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


def links(*which):
    """The links that ip(8) shows, by name and index."""
    shown = ip("-j", "link", "show", *which)
    return [(link["ifname"], link["ifindex"]) for link in json.loads(shown.stdout or "[]") if link]


def main(arguments):
    """Do what is asked."""
    if not arguments:
        for name, index in links("type", "bridge"):
            for place, (port, _) in enumerate(links("master", name)):
                print(f"{name}:{port} bridge_idx {index} port_idx {place}")
        return 1
    option, (switch, _, port) = arguments[0], arguments[1].partition(":")
    if option not in ("-a", "-d") or not links("dev", port):
        action = {"-a": "attach", "-d": "detach"}.get(option, "?")
        print(f"failed to {action} {arguments[1]}: No such device or address", file=sys.stderr)
        return 1
    if option == "-d":
        return ip("link", "set", port, "nomaster").returncode
    if not links("dev", switch):
        settings = ("stp_state", "0", "forward_delay", "0", "mcast_snooping", "0")
        ip("link", "add", switch, "type", "bridge", *settings)
    return ip("link", "set", switch, "up").returncode or ip("link", "set", port, "master", switch).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
