"""The probe of guests' images: those that VNFs name are found and checked as before a guest starts."""

from pathlib import Path

from nfvbed.errors import OnboardError, PrerequisiteError
from nfvbed.host.probes.findings import degraded
from nfvbed.host.qemu.images import find
from nfvbed.records import Readiness, Support, VnfKind
from nfvbed.records.findings import Finding, State
from nfvbed.spec.loader import Project
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import ImageSpec

TOPIC = "guest images"
_PROBED = "looked for the files, read their digests"

Problem = PrerequisiteError | OnboardError


def problem_with(spec: ImageSpec, root: Path) -> Problem | None:
    """Return what is wrong with an image; None: a guest can boot from it."""
    try:
        find(spec, root)
    except (PrerequisiteError, OnboardError) as failure:
        return failure
    return None


def probe_images(project: Project) -> Finding:
    """Find and check the images of all VNFs.

    Raises:
        ConfigurationError: the file of a VNF is not valid.
    """
    specs = {name: project.load_vnf(name).image for name in project.vnf_names}
    found = {name: problem_with(spec, project.root) for name, spec in specs.items() if spec is not None}
    bad = {name: problem for name, problem in found.items() if problem is not None}
    if not found:
        return Finding(topic=TOPIC, state=State.ABSENT, summary="no VNF names one", probed=_PROBED)
    if not bad:
        return Finding(topic=TOPIC, state=State.PRESENT, summary=", ".join(found), probed=_PROBED)
    reported = "; ".join(f"{name}: {p.what} ({p.where}: {p.observed})" for name, p in bad.items())
    state = State.ABSENT if len(bad) == len(found) else State.LIMITED
    fix = "; ".join(dict.fromkeys(problem.fix for problem in bad.values()))
    return Finding(topic=TOPIC, state=state, summary=reported, probed=_PROBED, fix=fix)


def with_own_image(support: Support, variant: Variant, project: Project) -> Support:
    """Add to an available variant's support that the image of its own VNF, a virtual machine, is not there.

    The variant stays usable, with a VNF of another kind or an image of one's own.

    Raises:
        ConfigurationError: the VNF's file is not valid, or there is none.
    """
    use = variant.native_vnf
    if use is None or use.kind is not VnfKind.VM or support.readiness is Readiness.UNSUPPORTED:
        return support
    spec = use.image or project.load_vnf(use.vnf).image
    problem = None if spec is None else problem_with(spec, project.root)
    if problem is None:
        return support
    return degraded(support, [f"its own VNF cannot be started: {problem.what} ({problem.where})"], [problem.fix])
