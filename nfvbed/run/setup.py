"""What is deployed while a run measures on one deployment."""

from dataclasses import dataclass

from nfvbed.records import Deployment
from nfvbed.run.neighbour import Neighbour
from nfvbed.run.tools import Measures
from nfvbed.sites.site import Site
from nfvbed.spec.variant import Variant
from nfvbed.traffic.generator import GeneratorInfo
from nfvbed.traffic.reopenable import ReopenableGenerator


@dataclass(frozen=True)
class Setup:
    """What is deployed while trials run."""

    site: Site
    variant: Variant
    """The variant as declared; for a ceiling the one that it belongs to."""
    deployment: Deployment
    measures: Measures
    info: GeneratorInfo
    generator: ReopenableGenerator
    """What `measures` measures with; it can free its ports for other traffic."""
    neighbour: Neighbour | None = None
    """What disturbs the trials on purpose; None: nothing does."""
