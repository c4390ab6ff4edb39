"""Tacker's access to its own cloud: a VIM for each project, registered where there is none."""

import re
from collections.abc import Mapping
from typing import Any

import openstack.connection

from nfvbed.cloud.tacker.connection import asking, auth
from nfvbed.cloud.tacker.journal import Journal, Note
from nfvbed.errors import OnboardError, UnsupportedError

NAME = "nfvbed-{}"
"""Names have the project's name in them: Tacker wants names to be unique in a project."""
_MARK = "made by nfvbed"
_KIND = "ETSINFV.OPENSTACK_KEYSTONE.v_2"
_OWN = re.compile(r"Default VIM already exists ([0-9a-f-]{36})")
_ROLE = "Tacker makes stacks with the credentials of its VIM: they need to be a member's of the project, at least"


def find_or_register(connection: openstack.connection.Connection, tacker: Any, note: Note, journal: Journal) -> str:
    """Return the id of this project's VIM, after registering it where there is none.

    Raises:
        OnboardError: Tacker does not take it, or it is not reachable with its credentials.
        UnsupportedError: these credentials may not do it.
    """
    mine = auth(connection)
    project = str(mine.get("project_name", ""))
    with asking("the list of Tacker's VIMs"):
        vims = tacker.list_vims()["vims"]
    for vim in vims:
        same = vim["auth_url"].rstrip("/") == _versioned(mine["auth_url"]) and vim["vim_project"]["name"] == project
        if vim["type"] == "openstack" and same:
            _check(vim)
            return str(vim["id"])
    _require_password(mine)
    credentials = {
        "username": mine["username"],
        "password": mine["password"],
        "user_domain_name": mine.get("user_domain_name", "Default"),
        "cert_verify": str(connection.config.verify is not False),
    }
    body = {
        "name": NAME.format(project),
        "description": _MARK,
        "type": "openstack",
        "auth_url": _versioned(mine["auth_url"]),
        "vim_project": {"name": project, "project_domain_name": mine.get("project_domain_name", "Default")},
        "auth_cred": credentials,
        # SOL asks for a default one before it looks at the request's.
        "is_default": not any(vim.get("is_default") for vim in vims),
    }
    try:
        with asking(f"registering the VIM {body['name']}", _ROLE, (str(mine["password"]),)):
            made = tacker.create_vim({"vim": body})["vim"]
    except OnboardError as failure:
        # Tacker's policy lists VIMs to administrators alone: a member's own is known by this answer.
        if (own := _OWN.search(failure.observed)) is None:
            raise
        return own.group(1)
    journal.write(Note("vim", made["id"], note.owner, note.name, note.cloud))
    return str(made["id"])


def connection_info(vim: str) -> list[dict[str, str]]:
    """Return the VIM as a SOL request names it: by id, so that it has no password."""
    return [{"id": NAME.format("vim"), "vimId": vim, "vimType": _KIND}]


def _require_password(mine: Mapping[str, Any]) -> None:
    """Refuse credentials that Tacker cannot use: it logs in by itself, later."""
    if "username" not in mine or "password" not in mine:
        raise UnsupportedError(
            "no VIM can be registered with these credentials",
            where="clouds.yaml",
            observed="Tacker takes a user and a password, and they have none (an application credential, a token)",
            fix="credentials with username, password and project_name; or let an administrator register a VIM for the"
            " project (openstack vim register)",
        )


def _check(vim: dict[str, Any]) -> None:
    """Refuse a VIM that Tacker has found to be unreachable. Without Mistral a VIM stays PENDING."""
    if vim.get("status") in ("UNREACHABLE", "ERROR"):
        raise OnboardError(
            f"Tacker does not reach its VIM {vim['name']}",
            where=str(vim["auth_url"]),
            observed=f"status {vim['status']}",
            fix="update its password: openstack vim set --config-file",
        )


def _versioned(auth_url: str) -> str:
    url = auth_url.rstrip("/")
    return url if url.endswith("/v3") else f"{url}/v3"
