"""Encrypted passwords, with a double of ansible-vault; tests/kolla/test_vault_of_kolla.py has the real one."""

import stat

import pytest
import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla.executor import passwords
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import HEADER, Vault

VAULT = f"""#!/usr/bin/python3
import sys
key = open(sys.argv[sys.argv.index("--vault-password-file") + 1]).read().strip()
text = sys.stdin.read()
if sys.argv[1] == "encrypt":
    print("{HEADER}1.1;" + key + "\\n" + text.encode().hex())
else:
    first, _, rest = text.partition("\\n")
    if first != "{HEADER}1.1;" + key:
        print("[ERROR]: Decryption failed (no vault secrets were found that could decrypt). for -", file=sys.stderr)
        sys.exit(1)
    print(bytes.fromhex(rest).decode(), end="")
"""
GENERATOR = """#!/usr/bin/python3
import os, sys
text = open(sys.argv[2]).read().replace("keystone_admin_password:", "keystone_admin_password: made-by-the-generator")
try:
    os.remove(sys.argv[2])
except OSError:
    pass
with os.fdopen(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o640), "w") as file:
    file.write(text)
"""
"""Removes and makes the file again, as Kolla's does."""


@pytest.fixture(name="tools")
def _tools(tmp_path):
    for name, text in {"ansible-vault": VAULT, "kolla-genpwd": GENERATOR}.items():
        path = tmp_path / "kolla/bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    example = tmp_path / "kolla/share/kolla-ansible/etc_examples/kolla/passwords.yml"
    example.parent.mkdir(parents=True)
    example.write_text("keystone_admin_password:\ndocker_registry_password:\n")
    return Toolset(tmp_path / "kolla")


@pytest.fixture(name="places")
def _places(tmp_path):
    made = RackPlaces.of(tmp_path, "rack")
    made.make()
    return made


@pytest.fixture(name="vault")
def _vault(tmp_path, tools):
    key = tmp_path / "key"
    key.write_text("right\n")
    key.chmod(0o600)
    return Vault("rack", tools, key)


def test_made_passwords_are_encrypted_and_never_on_disk_otherwise(places, vault):
    assert passwords.ensure(places, vault, used=False)
    kept = [path.read_text() for path in places.directory.rglob("*") if path.is_file()]
    assert len(kept) == 1 and kept[0].startswith(HEADER) and "made-by-the-generator" not in kept[0]
    assert stat.S_IMODE(places.passwords.stat().st_mode) == 0o600
    assert passwords.scrubber(places, vault)("made-by-the-generator") == "********"


def test_without_a_vault_they_are_kolla_s_own(places, tools):
    vault = Vault("rack", tools, None)
    assert passwords.ensure(places, vault, used=False)
    assert yaml.safe_load(places.passwords.read_text())["keystone_admin_password"] == "made-by-the-generator"
    assert vault.options == ()


def test_a_wrong_password_is_refused(places, vault):
    passwords.ensure(places, vault, used=False)
    vault.key.write_text("wrong\n")
    with pytest.raises(ConfigurationError, match="not the right one") as error:
        passwords.require_readable(places, vault)
    assert "Decryption failed" in error.value.observed and "wrong" not in error.value.observed


def test_a_missing_password_is_refused_before_there_are_any(places, vault):
    vault.key.unlink()
    with pytest.raises(ConfigurationError, match="cannot be read") as error:
        passwords.require_readable(places, vault)
    assert error.value.where == "deploy/sites/rack.yml vault_password_file"


@pytest.mark.parametrize(("text", "mode", "said"), [("\n", 0o600, "is empty"), ("right\n", 0o644, "read by others")])
def test_a_password_that_is_none_or_everybody_s_is_refused(places, vault, text, mode, said):
    vault.key.write_text(text)
    vault.key.chmod(mode)
    with pytest.raises(ConfigurationError, match=said):
        passwords.require_readable(places, vault)


def test_encrypted_passwords_without_a_key_in_the_site_s_file(places, vault):
    passwords.ensure(places, vault, used=False)
    with pytest.raises(ConfigurationError, match="does not say with what") as error:
        passwords.require_readable(places, Vault("rack", vault.tools, None))
    assert "vault_password_file: FILE in deploy/sites/rack.yml" in error.value.fix


def test_plain_passwords_where_the_site_names_a_vault(places, vault):
    places.passwords.write_text("a: in the clear\n")
    with pytest.raises(ConfigurationError, match="are not encrypted") as error:
        passwords.require_readable(places, vault)
    assert "ansible-vault encrypt --vault-password-file" in error.value.fix
    assert "in the clear" not in str(error.value)
