"""A host is probed before something is set up on it, and left alone while something stands."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from nfvbed.cli import support
from nfvbed.errors import UnsupportedError
from nfvbed.onboard.site import OnboardingSite
from nfvbed.spec.variant import Variant


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
