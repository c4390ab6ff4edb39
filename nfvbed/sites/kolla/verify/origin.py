"""By which kolla-ansible a rack was deployed, and whose images its containers are of: Kolla's, or built here."""

from nfvbed.cloud.box.images.record import LABEL, OURS
from nfvbed.errors import NfvbedError
from nfvbed.records.findings import Finding, State
from nfvbed.sites.kolla.verify.containers import KollaCommands
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.site import KollaSiteSpec

_BUILT_HERE = "ours"
_PULLED = "Kolla's"


def origin_of(site: KollaSiteSpec, release: KollaReleaseSpec) -> str:
    """Return the origin of what is deployed, by the site's file; no machine is asked."""
    images = _BUILT_HERE if site.is_box and site.images != "pull" else _PULLED
    return f"kolla-ansible {release.kolla_ansible}, images: {images}"


def read_origin(commands: KollaCommands) -> Finding:
    """Return what the image of a machine's switch says of its origin: nfvbed labels those that it built."""
    topic = f"{commands.host}: images"
    probed = "read the labels of the switch's container"
    try:
        labels = commands.labels()
    except NfvbedError as failure:
        return Finding(topic=topic, state=State.UNKNOWN, summary=failure.what, probed=probed, fix=failure.fix)
    version = labels.get("kolla_version", "")
    if not version:
        said = "the image has no label kolla_version: neither Kolla's nor nfvbed's"
        return Finding(topic=topic, state=State.UNKNOWN, summary=said, probed=probed)
    images = _BUILT_HERE if labels.get(LABEL) == OURS else _PULLED
    return Finding(topic=topic, state=State.PRESENT, summary=f"Kolla {version}, images: {images}", probed=probed)
