"""A small simulated study, a store that crashes at a chosen place, and a site that fails on demand."""

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.records import CellRole, CoreDistance, Deployment, RunRecord, Status, TrialRecord
from nfvbed.run.observer import Observer
from nfvbed.run.runner import Runner
from nfvbed.run.tools import Tools
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.sites.site import Site
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.rules import Study
from nfvbed.spec.site import LabSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.store import Store


class Crash(BaseException):
    """The process is gone: nothing is written any more."""


class CrashingStore(Store):
    """Dies at the n-th transaction, before or after it, and writes nothing from then on."""

    crash_at = 10**9
    after = False
    count = 0

    @contextlib.contextmanager
    def _transaction(self, what: str) -> Iterator[Connection]:
        self.count += 1
        if self.count > self.crash_at or (self.count == self.crash_at and not self.after):
            raise Crash
        with super()._transaction(what) as connection:
            yield connection
        if self.count == self.crash_at:
            raise Crash


class WatchedSite(SimulatedSite):
    """Knows what is deployed."""

    def __init__(self, offset: int = 0) -> None:
        super().__init__("lab", offset)
        self.running: set[str] = set()
        self.deployed: list[tuple[str, CellRole]] = []

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        deployment = super().deploy(variant, topology, role, vnf)
        self.running.add(deployment.id)
        self.deployed.append((variant.name, role))
        return deployment

    def destroy(self, deployment: Deployment) -> None:
        self.running.discard(deployment.id)
        super().destroy(deployment)


def classify_all_alike(distances: Sequence[CoreDistance | None]) -> list[str]:
    return ["single"] * len(distances)


def variant(name: str = "sim-a", **options: object) -> Variant:
    values = {"name": name, "title": name, "port_kind": "simulated", "topologies": ("p2p",)}
    return VariantModel.model_validate({**values, "options": {"dataplane": "simulated", **options}})


def study(variants: Sequence[Variant] | None = None, **experiment: object) -> Study:
    """A survey with one trial a visit, unless the test is about something else."""
    chosen = tuple(variants) if variants is not None else (variant(),)
    values: dict[str, Any] = {"name": "study", "title": "s", "variants": tuple(v.name for v in chosen)}
    values |= {"frame_sizes": (64,), "ceilings": False, "repetitions": {"needed": 2, "max_rounds": 3}}
    values |= {"purpose": "survey", **experiment}
    values["trials"] = {"mrr_trials": 1, **values.get("trials", {})}
    spec = Experiment.model_validate(values)
    return Study(spec, chosen, LabSiteSpec(name="lab", kind="lab"))


def runner(
    store: Store,
    site: Callable[[int], Site] = WatchedSite,
    observer: Observer | None = None,
    tools: Tools | None = None,
) -> Runner:
    return Runner(store, lambda _, done: site(done), tools or Tools(classify=classify_all_alike), observer)


def copy_of(template: Path, target: Path) -> Path:
    shutil.copyfile(template, target)
    return target


def keys(trials: Sequence[TrialRecord]) -> list[tuple[int, str, str]]:
    return [(t.round, t.cell, t.preset.value) for t in trials if t.status is Status.OK]


def only_run(store: Store) -> RunRecord:
    (run,) = store.runs()
    return run
