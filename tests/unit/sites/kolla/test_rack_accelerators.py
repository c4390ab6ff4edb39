"""How a rack's guests run: Nova's configuration as Kolla writes it, and domains as libvirt 11 prints them."""

from contextlib import contextmanager

import pytest

from nfvbed.cloud.verify.commands import Answer
from nfvbed.errors import DeployError
from nfvbed.records import Accelerator
from nfvbed.sites.kolla.measured import accelerators
from tests.unit.sites.kolla.orders import site

CONFIGURED = """[DEFAULT]
virt_type = none
[libvirt]
connection_uri = qemu+tcp://10.10.0.11/system
virt_type = kvm
cpu_mode = none
virt_type = {}
[filter_scheduler]
"""
DOMAIN = "<domain type='{}' id='1'>\n  <name>instance-00000001</name>\n"


class CommandsDouble:
    """Answers of a compute's containers."""

    def __init__(self, host, answers):
        self.host, self._answers = host, answers

    def by_switch(self, argv):
        return self._answers[argv[0]]


@pytest.fixture(name="answered")
def _answered(monkeypatch):
    def having(by_compute):
        @contextmanager
        def commands(_site, compute, container):
            assert container == ("nova_compute" if "cat" in by_compute[compute] else "nova_libvirt")
            yield CommandsDouble(compute, by_compute[compute])

        monkeypatch.setattr(accelerators, "commands_in", commands)

    return having


def configured(kind):
    return {"cat": Answer(0, CONFIGURED.format(kind), "")}


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (("kvm", "kvm"), Accelerator.KVM),
        (("qemu", "qemu"), Accelerator.TCG),
        (("kvm", "qemu"), Accelerator.NONE),
        (("lxc", "lxc"), Accelerator.NONE),
    ],
)
def test_it_is_what_nova_has_on_all_computes(answered, kinds, found):
    answered({f"compute{place}": configured(kind) for place, kind in enumerate(kinds, 1)})
    assert accelerators.of_nova(site(), ("compute1", "compute2")) is found


def test_without_the_key_nova_has_its_default():
    assert accelerators.virt_type("[libvirt]\ncpu_mode = none\n") == "kvm"


def test_a_guest_s_domain_says_how_it_runs(answered):
    answered({"compute1": {"virsh": Answer(0, DOMAIN.format("qemu"), "")}})
    assert accelerators.of_guest(site(), "compute1", "id") is Accelerator.TCG
    answered({"compute1": {"virsh": Answer(0, DOMAIN.format("kvm"), "")}})
    assert accelerators.of_guest(site(), "compute1", "id") is Accelerator.KVM


def test_a_container_that_does_not_answer_is_an_error(answered):
    answered({"compute1": {"virsh": Answer(1, "", "error: Domain not found")}})
    with pytest.raises(DeployError) as raised:
        accelerators.of_guest(site(), "compute1", "id")
    assert raised.value.observed == "error: Domain not found"
