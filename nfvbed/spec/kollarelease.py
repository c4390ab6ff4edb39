"""`kolla/releases/*.yml`: what an OpenStack release, and the kolla-ansible that deploys it, call things and can do."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from nfvbed.spec.model import SpecModel

NEWEST = "2026.1"
"""Release that is taken where none is named."""
ReleaseName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.]{0,20}$")]
OptionName = Annotated[str, StringConstraints(pattern=r"^\w+/\w+$")]
"""Name of an option in an INI file: `section/key`."""


class NovaKeysSpec(SpecModel):
    """Names of Nova's options."""

    dedicated_cores: OptionName
    """Option for cores of guests that have cores of their own."""
    shared_cores: OptionName | None = None
    """Option for cores of all other guests; None: the release has none, and they run on those above."""
    pci_devices: OptionName
    """Option for devices that instances may be given."""
    scheduler_filters: tuple[str, ...] = Field(min_length=1)
    """Names of the scheduler's filters that the release has on by default."""


class GuestKeysSpec(SpecModel):
    """What flavors and images of the release can say."""

    multiqueue: Literal["flavor", "image"]
    """Place of the wish for several queues a port: extra spec of a flavor (since Yoga), or property of an image."""
    emulator_threads: bool
    """Support of `hw:emulator_threads_policy` (since Pike)."""


class KollaReleaseSpec(SpecModel):
    """A release profile."""

    name: ReleaseName
    title: str
    summary: str = ""
    kolla_ansible: str = Field(pattern=r"^\d+\.\d+(\.\d+)?$")
    """Version of kolla-ansible that it was written for."""
    asserted_by: Literal["genconfig", "playbook"]
    """Proof of what is rendered: kolla-ansible itself makes the services' files of it, and they are read; by its
    command `genconfig`, or by its playbook where it has no such command."""
    facts: Literal["ansible_facts", "none"]
    """Place of the facts in which variables look NICs up: a variable of their own (since Ansible 2.5). `none`: they
    cannot, and files for systemd name the NICs."""
    ovs_agent_file: Literal["openvswitch_agent.ini", "ml2_conf.ini"]
    """File that Neutron's Open vSwitch agent reads."""
    nova: NovaKeysSpec
    """Names of Nova's options."""
    guests: GuestKeysSpec
    """Wishes of guests."""
    tacker_shared_folder: str = ""
    """Folder that Kolla gives to the containers of Tacker's server and its conductor alike; empty: Tacker is one."""
    image_python: dict[str, str] = Field(default_factory=dict)
    """Version of Python in Kolla's images, by the distribution that they are of."""
    everywhere: tuple[str, ...] = ()
    """Names of nfvbed's roles that controllers get, whatever the data plane."""
    converged: tuple[str, ...] = ()
    """Names of nfvbed's roles whose test on an emulated machine passed; of all others none did."""
    planes_as: ReleaseName | None = None
    """Release whose data planes it can have, by its name, where theirs do not name this one; None: no other's."""
