"""Sign-in with users of an OpenStack: Keystone says who they are; their roles in a project say what they may do.

A password is sent to Keystone once, and neither kept nor logged; the token that Keystone answers with is not kept
either.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from nfvbed.dashboard.people.roles import Role
from nfvbed.dashboard.people.sessions import SignedInUser
from nfvbed.errors import BusyError, ConfigurationError

ANSWER_S: Final = 15
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class KeystoneSpec:
    """Which Keystone is asked, and for what."""

    url: str
    """Address with the version: `https://cloud.example:5000/v3`."""
    project: str
    domain: str = "Default"
    """Domain of the project, and of users who name none."""
    operator_role: str = "admin"
    ca_file: Path | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ConfigurationError(
                "passwords are not sent to this Keystone",
                where="--keystone",
                observed=repr(self.url[:200]),
                fix="give its https address; http is for Keystone on this machine's loopback",
            )
        if self.ca_file is not None and not self.ca_file.is_file():
            raise ConfigurationError(
                "there are no such certificates", where="--keystone-ca", observed=str(self.ca_file)
            )


class IdentityService(Protocol):
    """Who knows users and their passwords."""

    def sign_in(self, user: str, password: str) -> SignedInUser | None:
        """Return the user who signs in; None: a wrong password, no such user, or no member of the project.

        Raises:
            BusyError: Keystone does not answer.
        """


class Keystone:
    """Asks Keystone (Identity API v3)."""

    def __init__(self, spec: KeystoneSpec) -> None:
        self._spec = spec

    def sign_in(self, user: str, password: str) -> SignedInUser | None:
        """Return who it is; see `IdentityService`."""
        # Only a dashboard that was asked to needs them.
        from keystoneauth1 import exceptions
        from keystoneauth1.identity.v3 import Password
        from keystoneauth1.session import Session

        spec, (name, _, domain) = self._spec, user.partition("@")
        asked = Password(
            auth_url=spec.url, username=name, password=password, user_domain_name=domain or spec.domain,
            project_name=spec.project, project_domain_name=spec.domain, include_catalog=False,
        )  # fmt: skip
        try:
            session = Session(verify=str(spec.ca_file) if spec.ca_file else True, timeout=ANSWER_S)
            found = asked.get_access(session)
        except (exceptions.Unauthorized, exceptions.BadRequest):
            return None
        except exceptions.ClientException as error:
            raise BusyError(
                "Keystone does not say who this is",
                where=spec.url,
                observed=type(error).__name__,
                fix="try again later; else ask the dashboard's administrator to check its --keystone and --keystone-ca",
            ) from None
        roles = {str(role).lower() for role in found.role_names or ()}
        return SignedInUser(
            user=user,
            role=Role.OPERATOR if spec.operator_role.lower() in roles else Role.VIEWER,
            until=found.expires or datetime.now(UTC),
        )
