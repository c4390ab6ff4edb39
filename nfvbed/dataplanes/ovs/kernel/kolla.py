"""Open vSwitch of the kernel in a cloud that kolla-ansible deploys: Kolla's own default."""

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.cloud.kolla.release import ReleaseSupport

KOLLA = KollaPlane(name="ovs-kernel", releases={"2026.1": ReleaseSupport("kolla"), "ocata": ReleaseSupport("kolla")})
