"""A host is probed before something is set up on it, and left alone while something is deployed that fits."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nfvbed.cli import support
from nfvbed.cli.vnf_options import DEFAULT_VNF, choice_of
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import Deployment
from nfvbed.sites.lab.storeddeployment import StoredDeployment
from nfvbed.sites.site import Site
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs import onboarded

PROJECT = open_project(Path(__file__).parents[3])


@dataclass
class FakeLab:
    log: list[str] = field(default_factory=list)
    stands: str | None = None

    def begin(self) -> None:
        self.log.append("begin")

    def find_deployed(self) -> Any:
        return self.stands

    def require(self, variant: Any) -> None:
        self.log.append("probe")
        raise UnsupportedError("cannot run here")


class WorkspaceDouble:
    """Says where it is and whose it is."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ledger = SimpleNamespace(owner=SimpleNamespace(since="then", command="nfvbed deploy"))


def test_it_is_probed_when_the_host_is_taken() -> None:
    lab = FakeLab()
    with pytest.raises(UnsupportedError):
        support.require_site(cast("Site", lab), cast("Variant", None))
    assert lab.log == ["begin", "probe"]


def test_what_is_deployed_is_not_disturbed() -> None:
    lab = FakeLab(stands="something")
    support.require_site(cast("Site", lab), cast("Variant", None))
    assert lab.log == ["begin"]


def chosen(variant: Variant, **options: Any) -> VnfChoice:
    choice = choice_of(PROJECT, variant, "pvp", DEFAULT_VNF, options)
    assert choice is not None
    return choice


def test_a_dry_run_refuses_where_another_vnf_runs(tmp_path: Path) -> None:
    variant = PROJECT.load_variant("ovs-dpdk")
    deployment = Deployment(
        id="d", variant=variant.name, site="lab", topology="pvp", ports=(), run_directory=str(tmp_path)
    )
    workspace = WorkspaceDouble(tmp_path)
    remembered = StoredDeployment(cast("Any", workspace), deployment, variant, cast("Any", None))
    mac = chosen(variant, forwarding="mac")
    onboarded.save(deployment, onboarded.OnboardedVnfs(choice=mac, handles=()))
    remembered.deployed.require_same(variant, "pvp", mac)
    with pytest.raises(OnboardError, match="another VNF is running on ovs-dpdk"):
        remembered.deployed.require_same(variant, "pvp", chosen(variant))
