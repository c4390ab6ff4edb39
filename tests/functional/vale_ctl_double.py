"""A double of netmap's vale-ctl: switches are bridges of the kernel, so frames pass; its answers are as vale-ctl's.

Written after apps/vale-ctl/vale-ctl.c: nothing but -a, -d and the list; a list ends with exit status 1.
"""

import sys

from pyroute2 import IPRoute


def main(arguments):
    """Do what is asked."""
    with IPRoute() as route:
        if not arguments:
            for bridge in route.get_links(kind="bridge"):
                name = bridge.get_attr("IFLA_IFNAME")
                for place, port in enumerate(route.get_links(master=bridge["index"])):
                    print(f"{name}:{port.get_attr('IFLA_IFNAME')} bridge_idx {bridge['index']} port_idx {place}")
            return 1
        option, (switch, _, port) = arguments[0], arguments[1].partition(":")
        found = route.link_lookup(ifname=port)
        if option not in ("-a", "-d") or not found:
            action = {"-a": "attach", "-d": "detach"}.get(option, "?")
            print(f"failed to {action} {arguments[1]}: No such device or address", file=sys.stderr)
            return 1
        if option == "-d":
            route.link("set", index=found[0], master=0)
            return 0
        if not route.link_lookup(ifname=switch):
            route.link("add", ifname=switch, kind="bridge", br_stp_state=0, br_forward_delay=0, br_mcast_snooping=0)
        index = route.link_lookup(ifname=switch)[0]
        route.link("set", index=index, state="up")
        route.link("set", index=found[0], master=index)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
