"""A rack whose passwords are encrypted: Kolla's generator, ansible-vault and stages over SSH are the real ones."""

import pytest
import yaml

from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import HEADER, Vault
from tests.functional.ssh_host import HostOfItsOwn
from tests.kolla.genconfig import ENVIRONMENT
from tests.kolla.racks import TestRack


@pytest.fixture(scope="module", name="far")
def _far(tmp_path_factory):
    assert (ENVIRONMENT / "bin/ansible-vault").is_file(), "kolla-ansible is not there: run setup/kolla"
    host = HostOfItsOwn(tmp_path_factory.mktemp("far"))
    yield host
    host.close()


@pytest.mark.timeout(300)
def test_encrypted_passwords_reach_ansible_and_nothing_else(tmp_path, far):
    rack, key = TestRack(tmp_path, far), tmp_path / "key"
    key.write_text("of the vault\n")
    key.chmod(0o600)
    rack.write_site(vault=key)
    shows = "{name: Show it, ansible.builtin.debug: {msg: 'it is {{ keystone_admin_password }}'}}"
    stages = [rack.playbook("secret-one", shows, rack.leaves("one"))]
    done = rack.deploy(*stages)
    assert done.code == 0, done.said
    kept = rack.places.passwords.read_text()
    assert kept.startswith(HEADER)
    vault = Vault("rack", Toolset(ENVIRONMENT), key)
    made = yaml.safe_load(vault.text_of(rack.places.passwords))
    log = (rack.places.logs / "secret-one.log").read_text()
    assert "it is ********" in log
    for secret in (made["keystone_admin_password"], made["nova_ssh_key"]["private_key"].splitlines()[1]):
        assert secret not in rack.kept() + kept + done.said

    # Another password: refused before any stage, by deploying and by destroying.
    key.write_text("another\n")
    stages.append(rack.playbook("two", rack.leaves("two")))
    for verb in ("deploy", "destroy"):
        wrong = rack.run(verb, stages)
        assert wrong.code == 10 and "the password of the vault is not the right one" in wrong.said, wrong.said
        assert "Decryption failed" in wrong.part("observed")
    assert not rack.left("two")
