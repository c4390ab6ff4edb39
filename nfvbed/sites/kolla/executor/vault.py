"""Passwords that ansible-vault keeps encrypted: the environment's own program decrypts them, in memory alone."""

import os
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import ConfigurationError
from nfvbed.patience import patient
from nfvbed.sites.kolla.executor.ansible import INHERITED
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.spec.site import KollaSiteSpec

HEADER = "$ANSIBLE_VAULT;"
"""Begins an encrypted file."""
_TIMEOUT_S = patient(60.0)
_FOR_OTHERS = 0o077


@dataclass(frozen=True)
class Vault:
    """The key to a site's passwords.

    Args:
        key: file that has the password of ansible-vault's, or a program that prints it; None: nothing is encrypted.
    """

    site: str
    tools: Toolset
    key: Path | None

    @classmethod
    def of(cls, site: KollaSiteSpec, tools: Toolset) -> "Vault":
        """Return the vault of a site, as its file says."""
        return cls(site.name, tools, None if site.vault_password_file is None else Path(site.vault_password_file))

    @property
    def _where(self) -> str:
        return f"deploy/sites/{self.site}.yml vault_password_file"

    @property
    def options(self) -> tuple[str, ...]:
        """Return the arguments by which programs of Ansible's and Kolla's open it."""
        return () if self.key is None else ("--vault-password-file", str(self.key))

    def text_of(self, path: Path) -> str:
        """Return what a file of passwords says, decrypted where it is encrypted; it is never written anywhere.

        Raises:
            ConfigurationError: the file and the site's key `vault_password_file` do not belong together, the password
                is a wrong one, or it cannot be read.
        """
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as failure:
            raise _unreadable(str(path), failure) from None
        if not text.startswith(HEADER):
            if self.key is None:
                return text
            raise ConfigurationError(
                "the passwords are not encrypted, and the site's file names the password of a vault",
                where=str(path),
                observed=f"it does not begin with {HEADER}; {self._where}: {self.key}",
                fix=f"{self._program} encrypt --vault-password-file {self.key} {path}; or remove vault_password_file",
            )
        if self.key is None:
            raise ConfigurationError(
                "the passwords are encrypted, and the site's file does not say with what",
                where=str(path),
                observed=f"it begins with {HEADER}, and deploy/sites/{self.site}.yml has no vault_password_file",
                fix=f"vault_password_file: FILE in deploy/sites/{self.site}.yml, with the password of ansible-vault",
            )
        return self._run("decrypt", text, f"{path} is encrypted with another password", path)

    def encrypted(self, text: str) -> str:
        """Return a text as ansible-vault encrypts it; where the site has no vault, as it is.

        Raises:
            ConfigurationError: the password cannot be read.
        """
        return text if self.key is None else self._run("encrypt", text, "ansible-vault did not encrypt", self.key)

    @property
    def _program(self) -> Path:
        return self.tools.program("ansible-vault")

    def require_key(self) -> None:
        """Make sure that the password is there, and its owner's alone.

        Raises:
            ConfigurationError: it is not.
        """
        if self.key is None:
            return
        try:
            found = self.key.stat()
            empty = not self.key.read_bytes().strip()
        except OSError as failure:
            raise _unreadable(self._where, failure) from None
        if not stat.S_ISREG(found.st_mode) or empty:
            raise ConfigurationError(
                "the password of the vault is empty",
                where=self._where,
                observed=f"{self.key}: {found.st_size} bytes",
                fix="a file with the password with which passwords.yml was encrypted, or a program that prints it",
            )
        if stat.S_IMODE(found.st_mode) & _FOR_OTHERS and not os.access(self.key, os.X_OK):
            raise ConfigurationError(
                "the password of the vault can be read by others",
                where=self._where,
                observed=f"{self.key}: mode {stat.S_IMODE(found.st_mode):04o}",
                fix=f"chmod 600 {self.key}",
            )

    def _run(self, verb: str, text: str, wrong: str, path: Path) -> str:
        """Have ansible-vault take a text from its standard input, and return what it prints."""
        self.require_key()
        own = {name: os.environ[name] for name in INHERITED if name in os.environ}
        with tempfile.TemporaryDirectory(prefix="nfvbed-") as work:
            settings = Path(work) / "ansible.cfg"  # a user's own would count otherwise
            settings.touch()
            done = subprocess.run(
                [self._program, verb, *self.options, "--output", "-"],
                input=text,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
                cwd=work,
                env={**own, "ANSIBLE_HOME": work, "ANSIBLE_CONFIG": str(settings), "ANSIBLE_NOCOLOR": "1"},
            )
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "[ERROR]"))]
            raise ConfigurationError(
                f"the password of the vault is not the right one: {wrong}"
                if "Decryption failed" in done.stderr
                else f"ansible-vault {verb} failed",
                where=f"{path}; {self._where}: {self.key}",
                observed=" ".join(said[:1]) or f"exit status {done.returncode}",
                fix="name the file with the password with which passwords.yml was encrypted",
            )
        return done.stdout


def _unreadable(where: str, failure: Exception) -> ConfigurationError:
    return ConfigurationError(
        "the password of the vault cannot be read"
        if where.endswith("vault_password_file")
        else "the file of passwords cannot be read",
        where=where,
        observed=str(failure),
        fix="name a file that is there, and that this account may read",
    )
