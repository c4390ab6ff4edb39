"""What is imported late: the image's builder runs this, so that these modules are compiled too."""

from ipaddress import IPv4Address

import nfvbed.vnfs.epc.store as store
from nfvbed.spec.bearers import Bearer
from nfvbed.vnfs.epc.reports import AttachReport, Outcome
from nfvbed.vnfs.epc.ue import Ue
from vepcagent import tcp
from vepcagent.sims import subscribers

USED = (
    tcp.PORT,
    store.READY,
    Ue(subscribers("0" * 32, "internet")[0]).attach(),
    Bearer(imsi="001010000000001", ue=IPv4Address("192.0.2.1"), uplink_teid=1, downlink_teid=1),
    AttachReport(outcomes=(Outcome(imsi="001010000000001", duration_ns=1),), busy_ns=1),
)
