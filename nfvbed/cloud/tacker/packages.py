"""VNF packages (SOL005): uploaded, reused where the same one is there, disabled and deleted."""

import re
from collections.abc import Mapping
from typing import Any

from tackerclient.common import exceptions as tacker_errors

from nfvbed.cloud.tacker.account import Account
from nfvbed.cloud.tacker.connection import asking, is_missing
from nfvbed.cloud.tacker.tags import Tag
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError

_KEY = "nfvbed-{}"
_FIELDS = ("owner", "name", "digest", "project")
_ONBOARDED = "ONBOARDED"
_PART_IS_GONE = re.compile(r"tacker\.common\.exceptions\.Vnf\w+NotFound")
"""In Tacker's answer of status 500: the package was there when it was asked for, and was deleted before its flavours,
files and descriptor were read; they go in one transaction."""


class Packages:
    """The packages of one project."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._tacker = account.tacker

    def of(self, owner: str) -> list[tuple[dict[str, Any], Tag]]:
        """Return an owner's packages with their tags."""
        with asking("the list of VNF packages"):
            ids = [one["id"] for one in self._tacker.list_vnf_packages()["vnf_packages"]]
            shown = [package for one in ids if (package := self._shown(one)) is not None]
        tagged = [(package, _tag(package)) for package in shown]
        return [(package, tag) for package, tag in tagged if tag and self._account.ours(tag, owner)]

    def _shown(self, identifier: str) -> dict[str, Any] | None:
        """Return a package; None: it is gone. For a moment Tacker still lists a deleted one."""
        try:
            return dict(self._tacker.show_vnf_package(identifier))
        except tacker_errors.TackerException as failure:
            if is_missing(failure) or _PART_IS_GONE.search(str(failure)):
                return None
            raise

    def upload(self, content: bytes, tag: Tag) -> dict[str, Any]:
        """Return the onboarded package of a tag: the same one that is already there, or a new one.

        Raises:
            OnboardError: Tacker did not take it.
        """
        for package, found in self.of(tag.owner):
            if found.digest == tag.digest and package["onboardingState"] == _ONBOARDED:
                return package
        with asking(f"VNF package {tag.label}"):
            data = {_KEY.format(key): str(getattr(tag, key)) for key in _FIELDS}
            identifier = str(self._tacker.create_vnf_package({"userDefinedData": data})["id"])
            self._account.note("package", identifier, tag)
            self._tacker.upload_vnf_package(identifier, content)
            return self._onboarded(identifier, tag)

    def _onboarded(self, identifier: str, tag: Tag) -> dict[str, Any]:
        shown: dict[str, Any] = {}

        def settled() -> bool:
            shown.update(self._tacker.show_vnf_package(identifier))
            return shown["onboardingState"] in (_ONBOARDED, "CREATED")

        waited = wait("package", settled)
        state = shown["onboardingState"]
        if not waited.done:
            raise OnboardError(f"VNF package {tag.label} stays {state}", where=identifier, observed=waited.too_long)
        if state != _ONBOARDED:
            raise OnboardError(
                f"Tacker did not take VNF package {tag.label}",
                where=identifier,
                observed=f"its onboarding state fell back to {state}; the API does not say why",
                fix="the log of tacker-conductor says why (an id of a VNFD that another package has, a hash, a file)",
            )
        return shown

    def delete(self, identifier: str) -> None:
        """Disable and delete a package; idempotent."""
        with asking(f"deleting VNF package {identifier}"):
            shown = self._shown(identifier) if identifier else None
            if shown is None:
                return
            if shown.get("operationalState") == "ENABLED":
                self._tacker.update_vnf_package(identifier, {"operationalState": "DISABLED"})
            self._tacker.delete_vnf_package(identifier)
            wait("delete", lambda: self._shown(identifier) is None)


def image_names(package: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the images that Tacker makes for each instance of a package."""
    return tuple(str(image["name"]) for image in package.get("softwareImages") or ())


def _tag(package: Mapping[str, Any]) -> Tag | None:
    data = package.get("userDefinedData") or {}
    owner, name, digest, project = (str(data.get(_KEY.format(key), "")) for key in _FIELDS)
    return Tag("sol", owner, name, digest, project=project) if owner and name and digest else None
