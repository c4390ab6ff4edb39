"""Which tables what is deployed has."""

from nfvbed.deploy.tables.bridge_fdb import BridgeLearning
from nfvbed.deploy.tables.ovs_entries import OvsEntries
from nfvbed.deploy.tables.ovs_fdb import OvsLearning
from nfvbed.deploy.tables.table import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.deploy.tables.vpp_fdb import VppLearning
from nfvbed.deploy.tables.vpp_routes import VppRoutes
from nfvbed.records import Deployment
from nfvbed.spec.dataplanes.linux_bridge import LinuxBridgeOptions
from nfvbed.spec.dataplanes.ovs import OvsOptions
from nfvbed.spec.dataplanes.vpp import VppOptions
from nfvbed.spec.variant import Variant

PORT_TO_PORT = "p2p"


def forwarding_table(deployment: Deployment, variant: Variant) -> ForwardingTable:
    """Open the switch's table of entries.

    Raises:
        TableNotApplicable: it has none.
        UnsupportedError, DeployError: it cannot be filled here.
    """
    if isinstance(variant.options, OvsOptions):
        return OvsEntries(deployment)
    if isinstance(variant.options, VppOptions):
        return VppRoutes(deployment, variant.options)
    if isinstance(variant.options, LinuxBridgeOptions):
        raise TableNotApplicable(
            "a bridge forwards by the addresses it learns: address-caching measures those; routes need a VNF that"
            " routes (topology pvp, forwarding: router)"
        )
    raise TableNotApplicable(f"{variant.name} has no table that entries can be put into")


def learning_table(deployment: Deployment, variant: Variant) -> LearningTable:
    """Open the table of learnt addresses, with a monitoring port.

    Raises:
        TableNotApplicable: it learns none.
        DeployError: the monitoring port cannot be added.
    """
    if deployment.topology != PORT_TO_PORT:
        raise TableNotApplicable(
            "addresses are learnt between two ports of one switch; what is behind a VNF is seen with the VNF's (p2p)"
        )
    options = variant.options
    if isinstance(options, LinuxBridgeOptions):
        if not options.learning:
            raise TableNotApplicable("this bridge does not learn (learning: false): it floods every frame")
        return BridgeLearning(deployment.control["switch_netns"], deployment.control["bridge"], options.fdb_max_learned)
    if isinstance(options, OvsOptions):
        if options.flows != "normal":
            raise TableNotApplicable("static rules forward from port to port, whatever the addresses (flows: normal)")
        return OvsLearning(deployment.control)
    if isinstance(options, VppOptions):
        if options.forwarding != "bridge-domain":
            raise TableNotApplicable("a cross-connect looks no address up (forwarding: bridge-domain learns them)")
        return VppLearning(deployment, options.mac_table_size)
    raise TableNotApplicable(f"{variant.name} learns no addresses")
