"""How nfvbed recognises what it has made: a line in each description, and a common beginning of names."""

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nfvbed.errors import UsageError

_WORD = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
_MARK = "made by nfvbed:"


@dataclass(frozen=True)
class Tag:
    """What the description of one of our things says."""

    api: str
    """`legacy` or `sol`: Tacker lists VNFs of the one among those of the other."""
    owner: str
    name: str
    digest: str
    """SHA-256 of the descriptor."""
    networks: tuple[tuple[str, str], ...] = ()
    """Connection points and networks, in the order of the path."""
    project: str = ""
    """Keystone's id of whose it is: Tacker lists an administrator the VNFs of all projects."""

    def __post_init__(self) -> None:
        for what, word in (("owner", self.owner), ("name", self.name)):
            if not _WORD.fullmatch(word):
                raise UsageError(
                    f"not {what} of a VNF: {word!r}",
                    fix="small letters, digits, '.' and '-', at most 63, a letter or digit first",
                )

    @property
    def label(self) -> str:
        """The beginning of the names of its things in the cloud."""
        return f"nfvbed-{self.owner}_{self.name}"

    def unique(self) -> str:
        """Return a name for one attempt: Tacker refuses a used name, even one of a VNF that it cannot delete."""
        return f"{self.label}-{secrets.token_hex(3)}"

    def same_vnf(self, other: "Tag | None") -> bool:
        """Return whether another tag is of the same VNF, of any descriptor."""
        if other is None:
            return False
        mine, theirs = ((one.api, one.owner, one.name, one.project) for one in (self, other))
        return mine == theirs

    @property
    def text(self) -> str:
        """The line for descriptions."""
        return f"{_MARK} {json.dumps(asdict(self))}"

    @classmethod
    def read(cls, text: str | None) -> "Tag | None":
        """Parse a description; None: it is not ours."""
        if not text or not text.startswith(_MARK):
            return None
        try:
            fields = json.loads(text.removeprefix(_MARK))
            networks = tuple((str(point), str(network)) for point, network in fields["networks"])
            api, owner, name, digest = (str(fields[key]) for key in ("api", "owner", "name", "digest"))
            return cls(api, owner, name, digest, networks, str(fields["project"]))
        except (ValueError, KeyError, TypeError, UsageError):
            return None  # another's words that begin alike


def is_name_of(owner: str, name: str) -> bool:
    """Return whether an attempt of an owner was given a name; Heat adds Tacker's id to it, and a respawn's number."""
    told = rf"nfvbed-{re.escape(owner)}_[a-z0-9.-]+-[0-9a-f]{{6}}(_[0-9a-f-]{{36}}(-RESPAWN-[0-9]+)?)?"
    return re.fullmatch(told, name) is not None


def digest_of(descriptor: Mapping[str, Any] | bytes) -> str:
    """Return the digest of a descriptor."""
    raw = descriptor if isinstance(descriptor, bytes) else json.dumps(descriptor, sort_keys=True).encode()
    return hashlib.sha256(raw).hexdigest()
