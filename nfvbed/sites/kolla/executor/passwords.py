"""Passwords of a rack: made once by Kolla's generator, for their owner alone, and kept."""

import os
import stat
import subprocess
from pathlib import Path

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.patience import patient
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.scrub import Scrubber, secrets_in
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import Vault

_GENERATOR_TIMEOUT_S = patient(300.0)


def ensure(places: RackPlaces, vault: Vault, *, used: bool) -> bool:
    """Make the passwords of a rack where there are none.

    Args:
        used: whether machines were deployed with them: they are never made a second time then.

    Returns:
        Whether they were made now.

    Raises:
        PrerequisiteError: they are gone, or others can read them, and machines have them.
        ConfigurationError: they cannot be encrypted.
        DeployError: the generator failed.
    """
    path = places.passwords
    if not path.exists():
        if used:
            raise PrerequisiteError(
                "the passwords that the machines were deployed with are gone",
                where=str(path),
                observed="there is no such file",
                fix=f"put it back from a copy; or nfvbed destroy --site {places.directory.name}, and deploy again",
            )
        _make(places, vault)
        return True
    others = stat.S_IMODE(path.stat().st_mode) & 0o077
    if others and used:
        raise PrerequisiteError(
            "the passwords of the machines can be read by others",
            where=str(path),
            observed=f"mode {stat.S_IMODE(path.stat().st_mode):04o}",
            fix=f"chmod 600 {path}; if others were on this machine, destroy, delete the file, and deploy again",
        )
    if others:
        _make(places, vault)
    return bool(others)


def require_readable(places: RackPlaces, vault: Vault) -> None:
    """Make sure that the passwords can be read, before anything is asked or changed; there may be none yet.

    Raises:
        ConfigurationError: the password of their vault is missing or a wrong one, or they are none.
    """
    vault.require_key()
    if places.passwords.exists():
        secrets_in(vault.text_of(places.passwords), places.passwords)


def scrubber(places: RackPlaces, vault: Vault) -> Scrubber:
    """Return the scrubber that takes the rack's passwords out of texts.

    Raises:
        ConfigurationError: they cannot be read.
    """
    return Scrubber(secrets_in(vault.text_of(places.passwords), places.passwords))


def _make(places: RackPlaces, vault: Vault) -> None:
    """Make the passwords in memory, and write them, encrypted where the site has a vault."""
    write_private(places.passwords, vault.encrypted(_generated(vault.tools)))


def _generated(tools: Toolset) -> str:
    """Return what Kolla's generator writes into a file, which is one in memory."""
    handle = os.memfd_create("passwords.yml")
    try:
        with os.fdopen(os.dup(handle), "w") as draft:
            draft.write((tools.share / "etc_examples" / "kolla" / "passwords.yml").read_text())
        done = subprocess.run(
            [tools.program("kolla-genpwd"), "-p", f"/proc/self/fd/{handle}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(handle,),
            text=True,
            timeout=_GENERATOR_TIMEOUT_S,
            check=False,
        )
        os.lseek(handle, 0, os.SEEK_SET)
        with os.fdopen(os.dup(handle)) as made:
            text = made.read()
    finally:
        os.close(handle)
    if done.returncode:
        said = Scrubber(secrets_in(text, Path("passwords.yml")))(done.stdout).strip()
        raise DeployError(
            "Kolla's generator made no passwords",
            where=str(tools.program("kolla-genpwd")),
            observed="\n".join(said.splitlines()[-3:]) or f"exit status {done.returncode}",
            fix="setup/kolla; then the same command",
        )
    return text
