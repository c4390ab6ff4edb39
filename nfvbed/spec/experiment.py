"""`vsperf-conf/experiments/*.yml`: what is measured and how often."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from nfvbed.records import Sessions, VnfKind
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.layout import MAX_CHAIN, Topology, chain_length, chains, layout
from nfvbed.spec.model import SpecModel
from nfvbed.spec.neighbour import NeighbourSpec
from nfvbed.spec.search import Search
from nfvbed.spec.testkinds.loads import SearchTest
from nfvbed.spec.tests import MRR_TEST, AnyTest, MrrTest, TestSpec, check_together, label_of
from nfvbed.spec.vnf import NATIVE, VnfUse
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES

MAX_LABEL = 60
"""Characters of a VNF's label; it is part of a cell's name."""
CONTAINER_TOPOLOGY = "pcp"
ALL = "all"
"""In place of a list of variants: every one that has a file and is no simulation."""
BEST = "best"
"""The highest rate of each traffic point is the baseline."""
_NATIVE_USE = VnfUse(forwarding=NATIVE)
SizeSpec = Annotated[int, Field(ge=MIN_FRAME_SIZE_BYTES, le=MAX_FRAME_SIZE_BYTES)] | Literal["imix"]


class TrafficSpec(SpecModel):
    """The traffic of every cell."""

    flows: int = Field(1, ge=1, le=1_000_000)
    """Flows per direction, which differ in address and UDP port."""
    bidirectional: bool = True
    """Traffic in both directions."""
    ip: Literal[4, 6] = 4
    """Version of IP."""
    vlan: int | None = Field(None, ge=1, le=4094)
    """VLAN tag of every frame."""
    sessions: Sessions | None = None
    """Five-tuples of the two directions. `mirrored`: those from port 1 answer those from port 0, flow by flow, and
    connections are open before a trial; `unreplied`: neither answers the other. None: `mirrored` where a variant tracks
    connections, else `unreplied`. Between a generator and a VNF that only sends or receives it is `unreplied`."""

    def sessions_in(self, topology: str) -> Sessions:
        """Return the form in one topology: only a generator at both ends can answer."""
        both = len(layout(topology).outside) > 1
        return Sessions.MIRRORED if self.sessions is Sessions.MIRRORED and both else Sessions.UNREPLIED


class TrialsSpec(SpecModel):
    """The trials of one repetition of a cell."""

    warmup_s: float = Field(0.2, ge=0, le=60)
    """Length of traffic at maximum load before the first trial of a visit, s; not counted."""
    mrr_trials: int = Field(3, ge=1, le=100)
    """Short trials at maximum load of one visit; core distance and stolen time are read between them."""
    mrr_duration_s: float = Field(0.3, ge=0.05, le=3600)
    """Length of each of them, s."""
    paced_duration_s: float = Field(1.0, ge=0.05, le=3600)
    """Length of the trial for loss and latency, s."""
    paced_fraction: float = Field(0.5, gt=0, le=1)
    """Load of that trial as a part of the median MRR that this cell has shown so far in the run."""


class RepetitionsSpec(SpecModel):
    """The number of repetitions, and the end of waiting for a placement class."""

    looks: tuple[int, ...] = Field((8, 12), min_length=1, max_length=4)
    """Rounds after which verdicts are looked at, fixed in advance; each has its share of the level. A traffic point
    that is decided stops."""
    needed: int = Field(5, ge=1, le=1000)
    """Rounds of a survey, and repetitions in one placement class of tests beside the MRR."""
    needed_ceilings: int = Field(3, ge=1, le=1000)
    """Rounds in which ceilings are measured, the first ones; a ceiling bounds a result and is not compared with it."""
    needed_slow: int | None = Field(None, ge=1, le=1000)
    """Number as `needed`, for cells whose deployment takes long (virtual machines to boot, 100,000 rules to write), at
    most `needed`; none: as all others. Comparisons need the rounds of the first look all the same."""
    only_lacking: bool = False
    """Restriction of a survey's later rounds to cells that still lack repetitions; else all, so that each round visits
    all variants."""
    max_spread: float = Field(0.05, gt=0, le=10)
    """Interquartile range of a cell's rates in one placement class, as a part of their median, that counts as stable;
    a result that scatters more carries the warning `unstable`."""
    max_rounds: int = Field(12, ge=1, le=10_000)
    """Limit of rounds of tests beside the MRR, which wait for a placement class, and of all else."""
    time_limit_s: float = Field(360, gt=0)
    """Seconds after which no new round starts; what is missing then is `blocked`."""
    budget_s: float | None = Field(None, gt=0)
    """Seconds for the whole run: what is not expected to end within it is not begun, and is `blocked` (budget). What
    takes long to deploy comes last in each round. The rounds up to the first look of a comparison are not held to it,
    as there is no verdict with fewer: `time_limit_s` bounds them."""

    @model_validator(mode="after")
    def looks_ascend(self) -> "RepetitionsSpec":
        if min(self.looks) < 1 or list(self.looks) != sorted(set(self.looks)):
            raise ValueError(f"looks {list(self.looks)} must be numbers of rounds that rise")
        return self

    @model_validator(mode="after")
    def rounds_reach_what_is_needed(self) -> "RepetitionsSpec":
        if self.max_rounds < self.needed:
            raise ValueError(f"max_rounds ({self.max_rounds}) must be at least needed ({self.needed})")
        return self


class ChainsSpec(SpecModel):
    """Chains of VNFs beside the topologies: every length from one on that the topologies do not have already."""

    longest: int = Field(4, ge=2, le=MAX_CHAIN)
    """VNFs of the longest chain."""
    frame_sizes: tuple[SizeSpec, ...] = Field((64,), min_length=1)
    """Frame sizes of chains, bytes."""
    slow: bool = False
    """Chains also where a deployment takes long (virtual machines to boot, 100,000 rules to write); else those cells
    are `skipped`."""


class AlteredVariant(SpecModel):
    """A variant with other values of some of its options, under a name of its own in one experiment."""

    variant: str
    """Name of a file in `deploy/variants`."""
    title: str
    options: dict[str, Any]
    """Options that are to have another value; the others stay. None (`{}`): the same variant once more, for A/A."""


class Experiment(SpecModel):
    """A matrix variants x topologies x VNFs x frame sizes, its traffic and its trials."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    site: str = "lab"
    """Name of a file in `deploy/sites`."""
    purpose: Literal["compare", "survey"] = "compare"
    """Kind of claim. `compare`: rounds at the looks of `repetitions.looks`, paired verdicts, `blocked` below the first
    look; `survey`: few rounds, ranges and an order, no verdicts. A variant that is alone at a traffic point is measured
    as in a survey."""
    variants: tuple[str, ...] = Field(min_length=1)
    """Names of variants, or `all`: every variant that has a file and is no simulation."""
    baseline: str | None = None
    """Variant that the others are judged against; `best`: the highest rate of each traffic point. None: the first
    variant."""
    ordered: bool = Field(default=False, exclude_if=lambda value: not value)
    """Order of the variants as that in which they came (releases, revisions): each is then judged against the one
    before it, beside the baseline."""
    altered: dict[str, AlteredVariant] = Field(default_factory=dict)
    """Variants of this experiment alone, by the names that `variants` has for them."""
    topologies: tuple[Topology, ...] = ("p2p",)
    """Paths of frames: `p2p`, `pvp`, `pvvp`, `pvpv` (`pvpv4`, `pvpv8`), `pcp`, or chains `pv1p` to `pv10p`."""
    chains: ChainsSpec | None = None
    """Chains of VNFs beside the topologies; None: none."""
    vnfs: tuple[VnfUse, ...] = ()
    """VNFs of the topologies that have any, one cell for each; none: one, each variant's native one."""
    flavors: tuple[Flavor, ...] = ()
    """Flavors of this experiment alone, by the names that `vnfs` has for them. On a cloud of nfvbed's they are made in
    Nova when a VNF has one."""
    endpoints: Literal["generator", "process", "vm"] = "generator"
    """Ends of the path outside the switch in `p2p`: the traffic generator, or a VNF that sends and one that receives
    (which makes it `v2v`)."""
    frame_sizes: tuple[SizeSpec, ...] = (64, 1518)
    """Frame sizes, bytes with FCS; or `imix`."""
    vnf_frame_sizes: tuple[SizeSpec, ...] | None = None
    """Frame sizes of topologies with VNFs, where they are to be fewer; None: the same."""
    traffic: TrafficSpec = TrafficSpec()
    """Traffic of every cell."""
    neighbour: NeighbourSpec | None = Field(default=None, exclude_if=lambda value: value is None)
    """Noisy neighbour beside every deployment; None: none."""
    trials: TrialsSpec = TrialsSpec()
    """Lengths of trials."""
    repetitions: RepetitionsSpec = RepetitionsSpec()
    """Rounds and repetitions."""
    tests: tuple[TestSpec, ...] = Field((MRR_TEST,), min_length=1)
    """Tests of each cell in every round, in this order; of ceilings only the MRR."""
    quick: bool = False
    """Use of the presets' forms for laptops in searches, and of `quick_form`; results say so."""
    quick_form: dict[str, Any] = Field(default_factory=dict)
    """Keys of this file, dotted, with their values in its quick form (`--quick`), which fits two cores and minutes."""
    ceilings: bool = True
    """Ceilings beside the variants: the generator's loopback, the reference switch and the VNFs alone."""
    keep_going: bool = False
    """Continuation with the others when a variant cannot be deployed, or dies; else the run ends."""

    @property
    def laid_out(self) -> tuple[str, ...]:
        """The topologies as they are laid out, those of chains last: with VNFs as endpoints, `p2p` is `v2v`."""
        return (*self.topologies, *self.longer) if self.endpoints == "generator" else ("v2v",)

    @property
    def longer(self) -> tuple[str, ...]:
        """The topologies that `chains` adds; `pvp` is a chain of one."""
        if self.chains is None:
            return ()
        known = {chain_length(topology) for topology in self.topologies}
        return tuple(name for name in chains(self.chains.longest) if chain_length(name) not in known)

    @property
    def uses(self) -> tuple[VnfUse, ...]:
        """The VNFs, also where the file leaves them out; none where no topology has any."""
        if not any(layout(topology).vnfs for topology in self.laid_out):
            return ()
        if self.vnfs:
            return self.vnfs
        kind = VnfKind.PROCESS if self.endpoints == "generator" else VnfKind(self.endpoints)
        return (_NATIVE_USE if self.endpoints == "generator" else VnfUse(kind=kind),)

    def sizes_in(self, topology: str) -> tuple[SizeSpec, ...]:
        """Return the frame sizes of one topology."""
        if self.chains is not None and topology in self.longer:
            return self.chains.frame_sizes
        with_vnfs = layout(topology).vnfs > 0
        return self.vnf_frame_sizes if with_vnfs and self.vnf_frame_sizes is not None else self.frame_sizes

    def uses_in(self, topology: str) -> tuple[VnfUse, ...]:
        """Return the VNFs of one topology: those that fit it; none where it has no VNF."""
        if not layout(topology).vnfs:
            return ()
        return tuple(use for use in self.uses if topology != CONTAINER_TOPOLOGY or use.kind is VnfKind.CONTAINER)

    @property
    def labelled_tests(self) -> dict[str, AnyTest]:
        """The tests by their labels, in order."""
        return {label_of(test): test for test in self.tests}

    @property
    def has_mrr(self) -> bool:
        """Whether the MRR is one of the tests."""
        return any(isinstance(test, MrrTest) for test in self.tests)

    def search_of(self, test: SearchTest) -> Search:
        """Return a search as this experiment runs it, with all its attributes."""
        return test.resolved(self.quick)

    @model_validator(mode="after")
    def tests_fit_together(self) -> "Experiment":
        check_together(self.tests, self.ceilings)
        return self

    @model_validator(mode="after")
    def quick_form_has_keys_of_the_file(self) -> "Experiment":
        fixed = {"name", "quick", "quick_form"}
        strange = [key for key in self.quick_form if key.split(".")[0] not in Experiment.model_fields.keys() - fixed]
        if strange:
            raise ValueError(f"quick_form has {', '.join(strange)}: give keys of an experiment, not its name")
        return self

    @model_validator(mode="after")
    def baseline_is_a_variant(self) -> "Experiment":
        if self.baseline not in (None, BEST, *self.variants):
            raise ValueError(f"baseline {self.baseline!r} is none of the variants {list(self.variants)}")
        return self

    @model_validator(mode="after")
    def rounds_reach_the_first_look(self) -> "Experiment":
        first, most = self.repetitions.looks[0], self.repetitions.max_rounds
        if self.purpose == "compare" and len(self.variants) > 1 and self.has_mrr and most < first:
            raise ValueError(
                f"repetitions.max_rounds ({most}) must be at least the first of repetitions.looks ({first}), as fewer "
                "rounds decide nothing; or choose purpose: survey"
            )
        return self

    @model_validator(mode="after")
    def nothing_is_named_twice(self) -> "Experiment":
        lists = {key: list(getattr(self, key)) for key in ("variants", "topologies", "frame_sizes")}
        lists["vnf_frame_sizes"] = list(self.vnf_frame_sizes or ())
        lists["vnfs"] = [use.label for use in self.vnfs]
        lists["flavors"] = [flavor.name for flavor in self.flavors]
        for key, values in lists.items():
            if len(set(values)) != len(values):
                raise ValueError(f"{key} names something twice: {values}")
        return self

    @model_validator(mode="after")
    def vnfs_can_be_named(self) -> "Experiment":
        for use in self.vnfs:
            if len(use.label) > MAX_LABEL:
                raise ValueError(f"the label {use.label!r} of a VNF has more than {MAX_LABEL} characters")
            given = [key for key in VnfUse.model_fields if getattr(use, key) != getattr(_NATIVE_USE, key)]
            if use.forwarding == NATIVE and given:
                raise ValueError(f"a native VNF is described by the variant; leave out {', '.join(given)}")
        return self

    @model_validator(mode="after")
    def containers_are_for_pcp(self) -> "Experiment":
        if CONTAINER_TOPOLOGY in self.topologies and not any(use.kind is VnfKind.CONTAINER for use in self.vnfs):
            raise ValueError("pcp is pvp with a container: give vnfs: [{kind: container, forwarding: bridge}]")
        return self

    @model_validator(mode="after")
    def endpoints_fit_the_topologies(self) -> "Experiment":
        if self.endpoints == "generator":
            return self
        if self.topologies != ("p2p",) or self.chains is not None:
            raise ValueError(f"endpoints: {self.endpoints} is for topologies: [p2p], not for {list(self.topologies)}")
        others = [use.label for use in self.vnfs if use.kind.value != self.endpoints]
        if others:
            raise ValueError(f"endpoints: {self.endpoints} does not fit the vnfs {others}")
        return self
