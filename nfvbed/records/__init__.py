"""Records between the stages and in the store: what a trial, a run and a deployment say, in closed words.

Most modules name what they need of trials and words from here; the others are named by their modules.
"""

from nfvbed.records.drops import CounterSource as CounterSource
from nfvbed.records.quality import QualityWarning as QualityWarning
from nfvbed.records.trial import CONNECTIONS as CONNECTIONS
from nfvbed.records.trial import CORE_PACE as CORE_PACE
from nfvbed.records.trial import GENERATOR_GAPS as GENERATOR_GAPS
from nfvbed.records.trial import NEIGHBOUR as NEIGHBOUR
from nfvbed.records.trial import NOT_SEPARABLE as NOT_SEPARABLE
from nfvbed.records.trial import SESSIONS as SESSIONS
from nfvbed.records.trial import SLOWED as SLOWED
from nfvbed.records.trial import TRIAL_FORMAT as TRIAL_FORMAT
from nfvbed.records.trial import CellRecord as CellRecord
from nfvbed.records.trial import ContentHash as ContentHash
from nfvbed.records.trial import CoreDistance as CoreDistance
from nfvbed.records.trial import CorePair as CorePair
from nfvbed.records.trial import Cost as Cost
from nfvbed.records.trial import CpuTime as CpuTime
from nfvbed.records.trial import Deployment as Deployment
from nfvbed.records.trial import DirectionCounts as DirectionCounts
from nfvbed.records.trial import Engine as Engine
from nfvbed.records.trial import FactRecord as FactRecord
from nfvbed.records.trial import GeneratorPort as GeneratorPort
from nfvbed.records.trial import GuestNic as GuestNic
from nfvbed.records.trial import Hop as Hop
from nfvbed.records.trial import LoopGaps as LoopGaps
from nfvbed.records.trial import PortKind as PortKind
from nfvbed.records.trial import QueueCounts as QueueCounts
from nfvbed.records.trial import Readiness as Readiness
from nfvbed.records.trial import Reason as Reason
from nfvbed.records.trial import Record as Record
from nfvbed.records.trial import RunId as RunId
from nfvbed.records.trial import RunRecord as RunRecord
from nfvbed.records.trial import Separable as Separable
from nfvbed.records.trial import Support as Support
from nfvbed.records.trial import SwitchCounters as SwitchCounters
from nfvbed.records.trial import TrialPreset as TrialPreset
from nfvbed.records.trial import TrialRecord as TrialRecord
from nfvbed.records.trial import VnfHandle as VnfHandle
from nfvbed.records.trial import VnfPort as VnfPort
from nfvbed.records.trial import WorkThread as WorkThread
from nfvbed.records.trial import rounding_of as rounding_of
from nfvbed.records.words import Accelerator as Accelerator
from nfvbed.records.words import CellRole as CellRole
from nfvbed.records.words import GeneratorPlace as GeneratorPlace
from nfvbed.records.words import HopKind as HopKind
from nfvbed.records.words import MissingPrerequisite as MissingPrerequisite
from nfvbed.records.words import Preset as Preset
from nfvbed.records.words import RenewedPart as RenewedPart
from nfvbed.records.words import Role as Role
from nfvbed.records.words import Sessions as Sessions
from nfvbed.records.words import Status as Status
from nfvbed.records.words import VnfKind as VnfKind
