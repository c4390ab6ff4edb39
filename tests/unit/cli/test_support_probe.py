"""A host is probed before something is set up on it, and left alone while something stands that fits."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from nfvbed.cli import support
from nfvbed.cli.vnf_options import DEFAULT_VNF, choice_of
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import Deployment
from nfvbed.sites.lab.onboarding import OnboardingSite
from nfvbed.sites.lab.standing import Standing
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs import standing as standing_vnfs

PROJECT = open_project(Path(__file__).parents[3])


@dataclass
class FakeLab:
    log: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.log.append("begin")

    def require(self, variant: Any) -> None:
        self.log.append("probe")
        raise UnsupportedError("cannot run here")


def test_it_is_probed_when_the_host_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = FakeLab()
    monkeypatch.setattr(support, "find_standing", lambda: None)
    with pytest.raises(UnsupportedError):
        support.require_host(cast("OnboardingSite", lab), cast("Variant", None))
    assert lab.log == ["begin", "probe"]


def test_what_stands_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = FakeLab()
    monkeypatch.setattr(support, "find_standing", lambda: "something")
    support.require_host(cast("OnboardingSite", lab), cast("Variant", None))
    assert lab.log == ["begin"]


def chosen(variant: Variant, **options: Any) -> VnfChoice:
    choice = choice_of(PROJECT, variant, "pvp", DEFAULT_VNF, options)
    assert choice is not None
    return choice


def test_a_dry_run_refuses_where_another_vnf_stands(tmp_path: Path) -> None:
    variant = PROJECT.load_variant("ovs-dpdk")
    deployment = Deployment(
        id="d", variant=variant.name, site="lab", topology="pvp", ports=(), run_directory=str(tmp_path)
    )
    standing = Standing(cast("Any", None), deployment, variant, cast("Any", None))
    mac = chosen(variant, forwarding="mac")
    standing_vnfs.save(deployment, standing_vnfs.StandingVnfs(choice=mac, handles=()))
    support.require_same(standing, variant, "pvp", mac)
    with pytest.raises(OnboardError, match="another VNF stands on ovs-dpdk"):
        support.require_same(standing, variant, "pvp", chosen(variant))
