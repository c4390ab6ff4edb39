"""Runs Neutron's agent for VPP in the controller, on a double of VPP's API: Neutron is real there, VPP is not.

Argument: a folder with the double, and with the settings of Neutron and of the agent. What the double has is written to
`vpp-double.json`, which this machine sees too, whenever the agent has looked.
"""

import json
import sys
from pathlib import Path

from vpp_double import VppDouble

from nfvbed.dataplanes.vpp.neutron_vpp import agent, names

SHOWN = names.FOLDER / "vpp-double.json"


class Api(VppDouble):
    """A double that connects."""

    def __init__(self, socket, check):
        super().__init__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def version(self):
        """Say that this is none."""
        return "double"

    def call(self, message, **arguments):
        """Answer, and show what there is."""
        answer = super().call(message, **arguments)
        pairs, domains = self.joined()
        draft = SHOWN.with_suffix(".new")
        draft.write_text(json.dumps([[sorted(pair) for pair in pairs], {k: sorted(v) for k, v in domains.items()}]))
        draft.rename(SHOWN)
        return answer


folder = Path(sys.argv[1])
agent.VppApi = Api
agent.names.SETTINGS = folder / "vpp-agent.json"
sys.argv = ["agent", "--config-file", "/etc/neutron/neutron.conf", "--config-file", str(folder / "host.conf")]
agent.main()
