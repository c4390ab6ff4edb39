"""Reports once, in the controller, what a VPP agent of another host would: an entry as a live agent has it, and no VPP.

Argument: the host's name. Neutron binds ports to hosts whose agents have reported of late.
"""

import sys

from neutron.agent import rpc
from neutron.common import config
from neutron.conf.agent import common
from neutron_lib import context
from neutron_lib.agent import topics
from oslo_config import cfg

from nfvbed.dataplanes.vpp.neutron_vpp import names

host = sys.argv[1]
config.register_common_config_options()
common.register_agent_state_opts_helper(cfg.CONF)
config.init(["--config-file", "/etc/neutron/neutron.conf"])
state = {
    "binary": names.BINARY,
    "host": host,
    "topic": "N/A",
    "agent_type": names.AGENT_TYPE,
    "configurations": {"physical_networks": ["data0"], "vhostuser_socket_dir": "/run/nfvbed"},
    "start_flag": True,
}
rpc.PluginReportStateAPI(topics.REPORTS).report_state(context.get_admin_context_without_session(), state, use_call=True)
