"""Why kolla-ansible cannot deploy it: the chassis of this data plane are the lab's, and on DPDK."""

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.cloud.kolla.release import unsupported
from nfvbed.dataplanes.ovs.ovn.kolla import BEFORE_OVN, ON_DPDK

KOLLA = KollaPlane(name="ovn-overlay", releases={"2026.1": unsupported(ON_DPDK), "ocata": BEFORE_OVN})
