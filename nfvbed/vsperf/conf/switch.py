"""From VSWITCH and the VSWITCH settings to a variant and its options."""

from typing import Final

from nfvbed.spec.loader import Project
from nfvbed.vsperf.conf.draft import Draft, one_of, whole
from nfvbed.vsperf.conf.settings import Found, TestSettings
from nfvbed.vsperf.conf.testids import VARIANT_OF

NONE: Final = "none"
MAX_PMD_CORES: Final = 64
MAX_QUEUES: Final = 64
WITH_PMD: Final = "ovs-dpdk"


def map_switch(draft: Draft, settings: TestSettings, project: Project) -> None:
    """Map the data plane; one that has no variant is missing, and none is taken in its place."""
    found = settings.require("VSWITCH")
    if str(found.value).lower() == NONE:
        draft.lacks("a path without a switch (SR-IOV, testpmd alone) is no variant", found)
        return
    name = VARIANT_OF[one_of(draft, found, (*VARIANT_OF, NONE))]
    if name not in project.variant_names:
        draft.lacks(f"there is no variant {name} (deploy/variants/{name}.yml)", found)
    draft.put("variants", [name], found)
    _options(draft, settings, name)


def _options(draft: Draft, settings: TestSettings, variant: str) -> None:
    mask, queues = settings.get("VSWITCH_PMD_CPU_MASK"), settings.get("VSWITCH_DPDK_MULTI_QUEUES")
    for found in (mask, queues):
        if found is not None and variant != WITH_PMD:
            draft.unused(found, f"{variant} has no PMD threads")
    if variant != WITH_PMD:
        return
    if mask is not None:
        draft.variant_options["pmd_cores"] = _cores(draft, mask)
        draft.differs(mask, "as many PMD threads as the mask has cores; nfvbed decides which cores they are")
    if queues is not None:
        count = whole(draft, queues, 0, MAX_QUEUES)
        if count:
            draft.variant_options["n_rxq"] = count


def _cores(draft: Draft, found: Found) -> int:
    try:
        count = int(str(found.value), 16).bit_count()
    except ValueError as error:
        raise draft.wrong(found, "give a mask in hexadecimal digits: '30' for cores 4 and 5") from error
    if not 1 <= count <= MAX_PMD_CORES:
        raise draft.wrong(found, f"give a mask of 1 to {MAX_PMD_CORES} cores")
    return count
