"""A double of VPP's API, not VPP: it keeps interfaces, cross-connects and bridge domains, and refuses what VPP does."""

from types import SimpleNamespace

from nfvbed.errors import DeployError


class VppDouble:
    """Answers what the agent's plumbing asks, and forgets everything when it is `restarted`."""

    def __init__(self):
        self.restarted()
        self.calls = []

    def restarted(self):
        """Be a VPP that has just started."""
        self.interfaces = {0: SimpleNamespace(sw_if_index=0, interface_name="local0", tag="", flags=0, made_of=None)}
        self.pairs = {}
        self.domains = {}
        self.fails_at = None

    def call(self, message, **arguments):
        """Answer one message."""
        self.calls.append(message)
        if message == self.fails_at:
            raise DeployError(f"VPP refuses {message}", where="double")
        return getattr(self, f"_{message}")(**arguments)

    def of(self, tag):
        """Return the interface with a tag."""
        (found,) = [one for one in self.interfaces.values() if one.tag == tag]
        return found

    def joined(self):
        """Return what is joined, by tags: cross-connected pairs, and domains' members by their tags."""
        tags = {number: one.tag for number, one in self.interfaces.items()}
        pairs = {frozenset((tags[one], tags[other])) for one, other in self.pairs.items()}
        return pairs, {d["tag"]: {tags[member] for member in d["members"]} for d in self.domains.values()}

    def somebody_joins(self, tag):
        """Let an interface have a link."""
        self.of(tag).flags |= 2

    def open_nic(self):
        """Have an interface of a NIC, as one that VPP makes when it starts."""
        self._make()

    def _make(self, tag="", made_of=None):
        number = max(self.interfaces) + 1
        self.interfaces[number] = SimpleNamespace(
            sw_if_index=number, interface_name=f"i{number}", tag=tag, flags=0, mode=None, made_of=made_of, vlan=None
        )
        return SimpleNamespace(retval=0, sw_if_index=number)

    def _sw_interface_dump(self):
        return list(self.interfaces.values())

    def _create_vhost_user_if_v2(self, is_server, sock_filename, tag):
        assert not is_server
        return self._make(tag, sock_filename)

    def _delete_vhost_user_if(self, sw_if_index):
        del self.interfaces[sw_if_index]
        self.pairs.pop(sw_if_index, None)
        for domain in self.domains.values():
            domain["members"].discard(sw_if_index)

    def _af_packet_create_v3(self, host_if_name, **_):
        return self._make(made_of=host_if_name)

    def _memif_socket_filename_add_del_v2(self, is_add, socket_id, socket_filename):
        self.memif_socket = (socket_id, socket_filename)

    def _memif_create_v2(self, socket_id, **_):
        assert self.memif_socket[0] == socket_id
        return self._make(made_of=self.memif_socket[1])

    def _sw_interface_tag_add_del(self, is_add, sw_if_index, tag):
        self.interfaces[sw_if_index].tag = tag

    def _sw_interface_set_rx_mode(self, sw_if_index, mode):
        if not self.interfaces[sw_if_index].flags & 2:
            raise DeployError("VPP refuses: an interface without a link has no queues", where=str(sw_if_index))
        self.interfaces[sw_if_index].mode = mode

    def _sw_interface_set_flags(self, sw_if_index, flags):
        self.interfaces[sw_if_index].flags |= flags & 1

    def _create_vlan_subif(self, sw_if_index, vlan_id):
        made = self._make(made_of=sw_if_index)
        self.interfaces[made.sw_if_index].vlan = vlan_id
        return made

    def _l2_interface_vlan_tag_rewrite(self, sw_if_index, vtr_op):
        self.interfaces[sw_if_index].rewrite = vtr_op

    def _sw_interface_set_l2_xconnect(self, rx_sw_if_index, tx_sw_if_index, enable):
        if not {rx_sw_if_index, tx_sw_if_index} <= self.interfaces.keys():
            raise DeployError("VPP refuses: there is no such interface", where=f"{rx_sw_if_index}, {tx_sw_if_index}")
        if enable:
            self._is_free(rx_sw_if_index)
            self.pairs[rx_sw_if_index] = tx_sw_if_index
        else:
            del self.pairs[rx_sw_if_index]

    def _is_free(self, number):
        if number in self.pairs or any(number in domain["members"] for domain in self.domains.values()):
            raise DeployError("VPP refuses: the interface is joined already", where=str(number))

    def _l2_xconnect_dump(self):
        return [SimpleNamespace(rx_sw_if_index=one, tx_sw_if_index=other) for one, other in self.pairs.items()]

    def _bridge_domain_add_del_v2(self, bd_id, is_add, bd_tag="", **_):
        if is_add:
            self.domains[bd_id] = {"tag": bd_tag, "members": set(), "limit": None}
        elif self.domains[bd_id]["members"]:
            raise DeployError("VPP refuses: the domain has members", where=str(bd_id))
        else:
            del self.domains[bd_id]

    def _bridge_domain_set_learn_limit(self, bd_id, learn_limit):
        self.domains[bd_id]["limit"] = learn_limit

    def _sw_interface_set_l2_bridge(self, rx_sw_if_index, bd_id, port_type, shg, enable):
        if enable:
            self._is_free(rx_sw_if_index)
            self.domains[bd_id]["members"].add(rx_sw_if_index)
        else:
            self.domains[bd_id]["members"].remove(rx_sw_if_index)

    def _bridge_domain_dump(self, bd_id):
        return [
            SimpleNamespace(
                bd_id=number,
                bd_tag=domain["tag"],
                sw_if_details=[SimpleNamespace(sw_if_index=member) for member in sorted(domain["members"])],
            )
            for number, domain in self.domains.items()
        ]
