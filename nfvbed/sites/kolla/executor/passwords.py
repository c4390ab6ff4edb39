"""Passwords of a rack: made once by Kolla's generator, for their owner alone, and kept."""

import stat
import subprocess

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.patience import patient
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.scrub import Scrubber, secrets_in
from nfvbed.sites.kolla.executor.toolset import Toolset

_GENERATOR_TIMEOUT_S = patient(300.0)


def ensure(places: RackPlaces, tools: Toolset, *, used: bool) -> bool:
    """Make the passwords of a rack where there are none.

    Args:
        used: whether machines were deployed with them: they are never made a second time then.

    Returns:
        Whether they were made now.

    Raises:
        PrerequisiteError: they are gone, or others can read them, and machines have them.
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
        _make(places, tools)
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
        _make(places, tools)
    return bool(others)


def scrubber(places: RackPlaces) -> Scrubber:
    """Return the scrubber that takes the rack's passwords out of texts.

    Raises:
        ConfigurationError: they cannot be read.
    """
    return Scrubber(secrets_in(places.passwords))


def _make(places: RackPlaces, tools: Toolset) -> None:
    """Make the passwords in a draft, which is renamed when it is complete."""
    draft = places.directory / "passwords.draft.yml"
    write_private(draft, (tools.share / "etc_examples" / "kolla" / "passwords.yml").read_text())
    try:
        done = subprocess.run(
            [tools.program("kolla-genpwd"), "-p", str(draft)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_GENERATOR_TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            said = Scrubber(secrets_in(draft))(done.stdout).strip()
            raise DeployError(
                "Kolla's generator made no passwords",
                where=str(tools.program("kolla-genpwd")),
                observed="\n".join(said.splitlines()[-3:]) or f"exit status {done.returncode}",
                fix="setup/kolla; then the same command",
            )
        draft.chmod(0o600)  # the generator makes it 0640, in a folder that nobody else enters
        draft.rename(places.passwords)
    finally:
        draft.unlink(missing_ok=True)
