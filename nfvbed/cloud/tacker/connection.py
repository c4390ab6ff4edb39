"""The clients: openstacksdk's connection from a `clouds.yaml`, and Tacker's on the same session."""

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import openstack.connection
from keystoneauth1 import exceptions as keystone
from keystoneauth1 import loading
from openstack import exceptions as sdk
from openstack.config import OpenStackConfig
from openstack.config.loader import CONFIG_FILES, SECURE_FILES, VENDOR_FILES
from tackerclient.common import exceptions as tacker
from tackerclient.v1_0.client import Client as TackerClient
from yaml import YAMLError

from nfvbed.errors import ConfigurationError, NfvbedError, OnboardError, UnsupportedError
from nfvbed.patience import patient
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text
from nfvbed.spec.validate import suggestion

REQUEST_S = 60.0
"""Bound of one request. Tacker answers `create` of the legacy API when Heat has taken the stack: 3 to 10 s."""
_FORBIDDEN = 403
_BODIES = ("keystoneauth", "tackerclient")
"""Loggers that write bodies of requests when they are at DEBUG: that of a VIM has a password."""
_ANSWER = 600
_MISSHAPEN = (TypeError, AttributeError, KeyError)
"""What openstacksdk raises where a value in `clouds.yaml` is of another kind than it expects."""
_TRACE = re.compile(r" (Traceback \(most recent|File /\S+, line \d+)")
"""Tacker sends its stack traces to every client."""


def connect(cloud: str, clouds_file: Path) -> openstack.connection.Connection:
    """Return a connection to a cloud that a `clouds.yaml` names, with a time-out for each request; nothing is sent yet.

    Raises:
        ConfigurationError: there is no such file, or no such cloud in it.
    """
    if not clouds_file.is_file():
        raise ConfigurationError(f"no clouds.yaml of cloud {cloud}", where=str(clouds_file))
    return _connection(OpenStackConfig(config_files=[str(clouds_file)], load_envvars=False), cloud, None)


def connect_as_named(cloud: str, region: str | None) -> openstack.connection.Connection:
    """Return a connection to a cloud in the user's own `clouds.yaml`, found as every OpenStack client finds it.

    Args:
        cloud: its name in that file.
        region: region of the cloud; None: the one that `clouds.yaml` names.

    Raises:
        ConfigurationError: there is no `clouds.yaml`, no such cloud in it, or it is not complete.
    """
    _require_bounds(os.environ.get("OS_CLIENT_CONFIG_FILE", ""), CONFIG_FILES)
    _require_bounds(os.environ.get("OS_CLIENT_SECURE_FILE", ""), SECURE_FILES)
    _require_bounds(os.environ.get("OS_CLIENT_VENDOR_FILE", ""), VENDOR_FILES)
    try:
        config = OpenStackConfig()
    except (sdk.ConfigException, ValueError, YAMLError, *_MISSHAPEN) as failure:
        raise ConfigurationError(
            "clouds.yaml cannot be read",
            where=os.environ.get("OS_CLIENT_CONFIG_FILE", ""),
            observed=" ".join(str(failure).split()),
            fix="write it as the OpenStack clients take it: clouds: {NAME: {auth: {auth_url: ...}}}",
        ) from None
    # Without a file the client has a cloud of its own, `defaults`, which is nowhere.
    names = [str(name) for name in config.get_cloud_names() if config.config_filename or name != "defaults"]
    if cloud not in names:
        searched = ", ".join(dict.fromkeys(str(Path(one).parent) for one in CONFIG_FILES))
        given = os.environ.get("OS_CLIENT_CONFIG_FILE", "")
        skipped = f"{given} is no valid YAML, and " if given and Path(given).is_file() else ""
        raise ConfigurationError(
            f"unknown cloud {cloud!r}",
            where=config.config_filename or f"{skipped}no clouds.yaml in {searched}",
            observed=f"there are {', '.join(names) or 'no clouds'}",
            fix=suggestion(cloud, names) if names else "write a clouds.yaml, or name one: OS_CLIENT_CONFIG_FILE",
        )
    return _connection(config, cloud, region)


def _require_bounds(named: str, usual: Sequence[str]) -> None:
    """Refuse a file that is too long or unfolds too far: openstacksdk would read any file.

    Args:
        named: the user's choice of file; empty: none.
        usual: where the file is looked for otherwise.

    Raises:
        ConfigurationError: the file that would be read is none, is too long, or passes the bounds of YAML.
    """
    for path in filter(os.path.exists, filter(None, (named, *usual))):
        if not os.access(path, os.R_OK):
            continue  # openstacksdk goes on to the next one
        try:
            boundedyaml.load(read_text(Path(path)))
        except boundedyaml.BoundsExceeded as failure:
            raise ConfigurationError(
                f"{Path(path).name} cannot be read",
                where=path,
                observed=str(failure.problem),
                fix="write it as the OpenStack clients take it: clouds: {NAME: {auth: {auth_url: ...}}}",
            ) from None
        except YAMLError:
            return  # what openstacksdk says of it comes later
        return


def _connection(config: OpenStackConfig, cloud: str, region: str | None) -> openstack.connection.Connection:
    for name in _BODIES:
        logging.getLogger(name).setLevel(logging.INFO)
    where = str(config.config_filename)
    _require_shape(config, cloud)
    _require_region(config, cloud, region)
    try:
        named: dict[str, Any] = {} if region is None else {"region_name": region}
        found = config.get_one(cloud=cloud, api_timeout=patient(REQUEST_S), **named)
        return openstack.connection.Connection(config=found)
    except (sdk.ConfigException, keystone.ClientException, ValueError, *_MISSHAPEN) as failure:
        written = _written(config, cloud)
        foreign = _foreign_keys(written)
        observed = f"auth has the key {', '.join(foreign)}" if foreign else " ".join(str(failure).split())
        fix = "it belongs beside auth, not below it; or correct its name" if foreign else "correct it there"
        raise ConfigurationError(
            f"cloud {cloud} cannot be used",
            where=where,
            observed=_hidden(observed, _passwords(written.get("auth"))),
            fix=fix if foreign or region is None else f"{fix}, or the key region of the site's file",
        ) from None


def _written(config: OpenStackConfig, cloud: str) -> dict[str, Any]:
    """Return a cloud's entry in `clouds.yaml`; empty where that is no mapping."""
    found = config.cloud_config["clouds"].get(cloud)
    return found if isinstance(found, dict) else {}


def _require_shape(config: OpenStackConfig, cloud: str) -> None:
    """Refuse parts that are no mapping, list or text where openstacksdk expects one."""
    if cloud not in config.cloud_config["clouds"]:
        return
    written = config.cloud_config["clouds"][cloud]
    regions = written.get("regions") if isinstance(written, dict) else None
    auth = written.get("auth") if isinstance(written, dict) else None
    plugin = written.get("auth_type") if isinstance(written, dict) else None
    named = isinstance(regions, list) and all(
        isinstance(one.get("name") if isinstance(one, dict) else one, str) for one in regions
    )
    wrong = {
        f"clouds.{cloud}": not isinstance(written, dict),
        f"clouds.{cloud}.auth": auth is not None and not isinstance(auth, dict),
        f"clouds.{cloud}.auth_type": plugin is not None and not isinstance(plugin, str),
        f"clouds.{cloud}.regions": regions is not None and not named,
    }
    for key in (key for key, is_wrong in wrong.items() if is_wrong):
        raise ConfigurationError(
            f"cloud {cloud} cannot be used",
            where=f"{config.config_filename} {key}",
            observed="its value is of another kind than the OpenStack clients take",
            fix="clouds and auth are keys and values, auth_type is a text, regions a list of names",
        )


def _require_region(config: OpenStackConfig, cloud: str, region: str | None) -> None:
    """Refuse a cloud of several regions without a choice: openstacksdk would take the first one."""
    written = _written(config, cloud)
    regions = [one["name"] if isinstance(one, dict) else one for one in written.get("regions") or ()]
    if len(regions) > 1 and region is None and not written.get("region_name"):
        raise ConfigurationError(
            f"cloud {cloud} has several regions, and none is chosen",
            where=str(config.config_filename),
            observed=", ".join(regions),
            fix="name one: the key region of the site's file, or region_name in clouds.yaml",
        )


def _foreign_keys(written: Mapping[str, Any]) -> list[str]:
    """Return the keys below a cloud's `auth` that its kind of authentication does not know, as `verify`."""
    auth = written.get("auth")
    try:
        options = loading.get_plugin_loader(written.get("auth_type") or "password").get_options()
    except keystone.NoMatchingPlugin:
        return []
    names = (name for one in options for name in (one.dest, one.name, *(old.name for old in one.deprecated)))
    known = {name.replace("-", "_") for name in names}
    return sorted(set(auth) - known) if isinstance(auth, dict) else []


def tacker_client(connection: openstack.connection.Connection, version: Literal["1", "2"] = "1") -> Any:
    """Return Tacker's client on a connection's session, with its time-out: for the legacy API and SOL.

    Args:
        version: of the API of VNF instances, `1` or `2`; packages and VIMs have one version.
    """
    return TackerClient(
        api_version=version,
        session=connection.session,
        region_name=connection.config.get_region_name() or None,
        endpoint_type=connection.config.get_interface("nfv-orchestration") or "public",
        raise_errors=True,
    )


def identity(connection: openstack.connection.Connection) -> str:
    """Return which cloud and project this is: Keystone's address and the project's id."""
    return f"{auth(connection).get('auth_url', '')} {connection.current_project_id}"


def auth(connection: openstack.connection.Connection) -> dict[str, Any]:
    """Return what authenticates requests. It has a password, so use it only for requests."""
    found: dict[str, Any] = connection.config.config["auth"]
    return found


@contextmanager
def asking(what: str, role: str = "", hidden: tuple[str, ...] = ()) -> Iterator[None]:
    """Turn errors of the three clients into nfvbed's own.

    Args:
        what: the thing that is asked for, as `the VNFD`; the message begins with it.
        role: the role that is needed, and what for, where an ordinary member's is not enough.
        hidden: words that must be in no message.

    Raises:
        UnsupportedError: the cloud refused it to these credentials.
        OnboardError: it failed, or there was no answer.
    """
    try:
        yield
    except NfvbedError:
        raise
    except (sdk.SDKException, keystone.ClientException, tacker.TackerException) as failure:
        observed = _hidden(said(failure), hidden)
        if status(failure) == _FORBIDDEN:
            needed = role or "a role in this project that the service's policy lets do it (`member`, or `admin`)"
            raise UnsupportedError(f"{what}: refused to these credentials", observed=observed, fix=needed) from None
        raise OnboardError(f"{what} failed", observed=observed, fix=_advice(failure)) from None


def status(failure: Exception) -> int:
    """Return the HTTP status of a client's error; 0: there was no answer."""
    for name in ("status_code", "http_status"):
        found = getattr(failure, name, None)
        if isinstance(found, int):
            return found
    return 0


def is_missing(failure: Exception) -> bool:
    """Return whether an error says that something does not exist."""
    return status(failure) == 404 or isinstance(failure, (sdk.NotFoundException, tacker.NotFound))


def said(failure: Exception) -> str:
    """Return the message of a client's error, in one line."""
    answer = getattr(failure, "details", None) or getattr(failure, "message", None) or failure
    code = status(failure)
    text = _TRACE.split(" ".join(str(answer).split()), maxsplit=1)[0][:_ANSWER]
    return f"status {code}: {text}" if code else text or type(failure).__name__


def _advice(failure: Exception) -> str:
    if isinstance(failure, keystone.Unauthorized) or status(failure) == 401:
        return "the password or the project in clouds.yaml is wrong"
    if status(failure) == 0:
        return "no answer: is the service up? (nfvbed devcloud status, nfvbed devcloud logs)"
    return ""


def _hidden(text: str, words: tuple[str, ...]) -> str:
    for word in words:
        text = text.replace(word, "***") if word else text
    return text


def _passwords(auth: Any) -> tuple[str, ...]:
    if not isinstance(auth, dict):
        return ()
    return tuple(str(auth[key]) for key in ("password", "token", "application_credential_secret") if key in auth)
