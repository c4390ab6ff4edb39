"""Which tables what is deployed has."""

from nfvbed.dataplanes.linux_bridge.fdb import BridgeLearning
from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.ovs.entries import OvsEntries
from nfvbed.dataplanes.ovs.fdb import OvsLearning
from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.dataplanes.vpp.fdb import VppLearning
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.vpp.routes import VppRoutes
from nfvbed.records import Deployment
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
