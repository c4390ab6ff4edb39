"""VNFs of several machines: what does not fit together in their file is reported with its line."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, InternalError
from nfvbed.records import VnfKind
from nfvbed.spec.choices import resolve, why_not_machines
from nfvbed.spec.document import parse_document
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.spec.vnf import VnfChoice, VnfUse

ROOT = Path(__file__).parents[3]
FILE = """\
name: pair
title: Two machines
kinds: [vm]
forwarding: [router]
ports:
  - {name: left, role: in, at: a.left}
  - {name: right, role: out, at: b.right}
path: [a.left, a.middle, b.middle, b.right]
machines:
  - name: a
    ports:
      - {name: left, link: left}
      - {name: middle, link: middle, address: 10.9.1.10}
      - {name: talk, link: talk, address: 10.9.2.10}
  - name: b
    ports:
      - {name: middle, link: middle, address: 10.9.1.11}
      - {name: right, link: right}
      - {name: talk, link: talk, address: 10.9.2.11}
links:
  - {name: left, carries: data, network: data0}
  - {name: right, carries: data, network: data1}
  - {name: middle, carries: data, cidr: 10.9.1.0/24}
  - {name: talk, cidr: 10.9.2.0/24}
placement:
  - {name: both, policy: anti-affinity, machines: [a, b]}
flavours:
  - name: single
    machines:
      - {name: one, holds: [a, b]}
"""


@pytest.fixture(name="project")
def _project(tmp_path):
    shutil.copytree(ROOT / "flavors", tmp_path / "flavors")
    for folder in ("deploy/variants", "vsperf-conf", "vnfd/pair"):
        (tmp_path / folder).mkdir(parents=True)
    return open_project(tmp_path)


def load(project, text):
    (project.vnfs_folder / "pair" / "vnf.yml").write_text(text)
    return project.load_vnf("pair")


def test_file_that_is_right_is_read(project):
    vnf = load(project, FILE)
    assert isinstance(vnf, MachinesVnfSpec)
    assert [machine.name for machine in vnf.machines] == ["a", "b"]
    assert list(map(str, vnf.link("talk").pool)) == ["10.9.2.192", "10.9.2.254"]
    assert vnf.link("left").pool is None


def test_mobile_core_has_all_its_functions():
    vnf = open_project(ROOT).load_vnf("vepc")
    assert [machine.name for machine in vnf.machines] == [
        "ue-enb",
        "mme",
        "hss",
        "pcrf",
        "sgw",
        "pgw",
        "igw",
        "server",
    ]
    assert {"s1-mme", "gtp-c", "s6a", "gx", "s5-u", "s1-u", "sgi"} <= {link.name for link in vnf.links}
    assert [end.at for end in vnf.ports] == ["sgw.s1-u", "pgw.sgi"]
    (flavour,) = vnf.flavours
    assert {guest.name: set(guest.holds) for guest in flavour.machines} == {
        "core": {"mme", "hss", "pcrf", "sgw", "pgw"},
        "edge": {"ue-enb", "igw", "server"},
    }


TALK = "  - {name: talk, cidr: 10.9.2.0/24}\n"
A_TALK = "      - {name: talk, link: talk, address: 10.9.2.10}\n"
B_TALK = "      - {name: talk, link: talk, address: 10.9.2.11}\n"
GROUP = "  - {name: both, policy: anti-affinity, machines: [a, b]}\n"
WRONG = {
    "link that nobody uses": (TALK, TALK + "  - {name: idle, cidr: 10.9.3.0/24}\n", "no port uses link 'idle'", "idle"),
    "link with one end": (B_TALK, "", "link 'talk' joins nothing", "name: talk, cidr"),
    "port on an unknown link": (
        A_TALK,
        A_TALK.replace("link: talk", "link: tlak"),
        "unknown link of port a.talk",
        "tlak",
    ),
    "two machines of one name": (
        "  - name: b\n",
        "  - name: a\n",
        "two of one name in vnf.yml: machine 'a'",
        "- name: a",
    ),
    "two links of one name": (TALK, TALK + TALK, "two of one name in vnf.yml: link 'talk'", TALK.strip()),
    "two ports of one name": (A_TALK, A_TALK + A_TALK, "two of one name in vnf.yml: port of machine a 'talk'", "talk"),
    "flavour of a taken name": ("  - name: single\n", "  - name: default\n", "flavour 'default'", "name: default"),
    "two ports on one link": (
        A_TALK,
        A_TALK + "      - {name: more, link: talk}\n",
        "machine a has two ports on link 'talk'",
        "name: talk, link",
    ),
    "unknown machine in a group": (
        GROUP,
        GROUP.replace("[a, b]", "[a, c]"),
        "unknown machine in group both: 'c'",
        "[a, c]",
    ),
    "machine in two groups": (
        GROUP,
        GROUP + "  - {name: more, machines: [b]}\n",
        "machine 'b' is in two groups",
        "name: more",
    ),
    "machine twice in a group": (
        GROUP,
        GROUP.replace("[a, b]", "[a, a]"),
        "machine 'a' is twice in group both",
        "[a, a]",
    ),
    "group apart from an unknown one": (
        GROUP,
        GROUP.replace("]}", "], apart_from: [all]}"),
        "unknown group apart from both: 'all'",
        "apart_from",
    ),
    "end that is not on the path": (
        "at: b.right}",
        "at: b.talk}",
        "end 'right' of the data path is not on the path",
        "at: b.talk",
    ),
    "end of an unknown port": ("at: b.right}", "at: c.right}", "end 'right' of the data path", "at: c.right"),
    "ends the wrong way round": (
        "path: [a.left, a.middle, b.middle, b.right]",
        "path: [b.right, b.middle, a.middle, a.left]",
        "in the wrong order",
        "at: b.right",
    ),
    "generator at a machine's address": (
        "at: b.right}",
        "at: b.middle, generator: 10.9.1.10}",
        "it is the address of a.middle",
        "generator: 10.9.1.10",
    ),
    "generator in the pool": (
        "at: b.right}",
        "at: b.middle, generator: 10.9.1.200}",
        "left to DHCP",
        "generator: 10.9.1.200",
    ),
    "generator on a link without a subnet": (
        "at: b.right}",
        "at: b.right, generator: 10.9.1.20}",
        "the link has no subnet",
        "generator: 10.9.1.20",
    ),
    "unknown port on the path": (
        "[a.left, a.middle,",
        "[a.left, a.midle,",
        "unknown port on the path: 'a.midle'",
        "path",
    ),
    "path with a gap": (
        "[a.left, a.middle, b.middle,",
        "[a.left, b.middle,",
        "port b.middle cannot be on the path",
        "path",
    ),
    "path that returns": ("b.right]", "b.right, b.middle]", "port b.middle cannot be on the path", "path"),
    "path over a control link": ("b.middle, b.right]", "b.talk, b.right]", "port b.talk cannot be on the path", "path"),
    "subnet that is missing": (TALK, "  - {name: talk}\n", "link 'talk' has no subnet", "name: talk}"),
    "subnet that is too small": ("10.9.2.0/24}", "10.9.2.8/30}", "has no fitting size", "10.9.2.8/30"),
    "subnets that overlap": ("cidr: 10.9.2.0/24", "cidr: 10.9.0.0/16", "have overlapping subnets", "10.9.0.0/16"),
    "subnet with host bits": ("10.9.2.0/24}", "10.9.2.1/24}", "links", "10.9.2.1/24"),
    "address of another subnet": ("10.9.2.10", "10.9.3.10", "not in 10.9.2.0/24", "10.9.3.10"),
    "address of the gateway": ("10.9.2.10", "10.9.2.1", "gateway", "10.9.2.1}"),
    "address of the pool": ("10.9.2.10", "10.9.2.200", "left to DHCP", "10.9.2.200"),
    "address of another port": ("10.9.2.11", "10.9.2.10", "it is the address of a.talk", "name: talk, link"),
    "address without a subnet": (
        "link: left}",
        "link: left, address: 10.9.4.10}",
        "the link has no subnet",
        "10.9.4.10",
    ),
    "unknown flavor": ("  - name: b\n", "  - name: b\n    flavor: huge\n", "unknown flavor: 'huge'", "flavor: huge"),
    "flavour with an unknown machine": (
        "holds: [a, b]",
        "holds: [a, b, c]",
        "unknown machine in one of flavour",
        "holds",
    ),
    "flavour that leaves one out": ("holds: [a, b]", "holds: [a]", "flavour single leaves machines out", "machines:"),
    "flavour that holds one twice": ("holds: [a, b]", "holds: [a, b, a]", "machine 'a' is held twice", "holds"),
    "setting that is no plain word": (
        "  - name: b\n",
        "  - name: b\n    config: {key: two words}\n",
        "config",
        "two words",
    ),
    "no machine": (FILE[FILE.index("  - name: a\n") : FILE.index("links:")], "  []\n", "machines", "machines:"),
    "key that is not known": (TALK, TALK.replace("cidr", "cdir"), "cdir", "cdir"),
}


@pytest.mark.parametrize(("old", "new", "said", "line"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_told_with_its_line(project, old, new, said, line):
    text = FILE.replace(old, new)
    assert text != FILE
    yaml.safe_load(text)
    with pytest.raises(ConfigurationError) as caught:
        load(project, text)
    failure = caught.value
    assert said in f"{failure.what}; {failure.observed}", str(failure)
    number = int(re.search(r"vnf\.yml:(\d+)", failure.where)[1])
    assert line in text.splitlines()[number - 1], str(failure)
    assert failure.observed
    assert failure.fix
    assert failure.exit_code == 10


def test_guest_cannot_have_two_addresses_on_a_link_that_leaves_it(project):
    third = "  - name: c\n    ports:\n      - {name: talk, link: talk, address: 10.9.2.12}\n"
    text = FILE.replace("links:", third + "links:", 1)
    text = text.replace("holds: [a, b]}", "holds: [a, b]}\n      - {name: two, holds: [c]}")
    with pytest.raises(ConfigurationError, match="several addresses on link 'talk'") as caught:
        load(project, text)
    assert "holds" in caught.value.where
    assert load(project, text.replace(", address: 10.9.2.11", "")).name == "pair"


@pytest.mark.parametrize("more", ["bearers: 8", "forwarding: xdp-gateway", "flavor: pinned"])
def test_experiment_cannot_ask_its_machines_for_what_their_file_says(more):
    project = open_project(ROOT)
    text = f"name: x\ntitle: X\nvariants: [ovs-dpdk]\ntopologies: [vepc]\nvnfs:\n  - {{vnf: vepc, kind: vm, {more}}}\n"
    with pytest.raises(ConfigurationError, match="VNF vepc is of several machines") as caught:
        project.study_of(parse_document(Path("x.yml"), text))
    assert caught.value.where.startswith("x.yml:6")
    assert more.partition(":")[0] in caught.value.observed


def test_one_without_a_measured_form_cannot_be_on_a_path(project):
    vnf = load(project, FILE)
    observed, _ = why_not_machines(VnfUse(vnf="pair", kind=VnfKind.VM), vnf)
    assert observed == "no form of it is measured: a, b"
    with pytest.raises(InternalError, match="no form that is measured"):
        vnf.on_path()


def test_in_a_cloud_its_measured_form_is_a_vnf_of_two_ports_that_a_record_can_hold():
    project = open_project(ROOT)
    choice = resolve(VnfUse(vnf="vepc", kind=VnfKind.VM), project.load_variant("ovs-dpdk"), project)
    assert choice is not None
    assert (choice.vnf.kinds, [port.name for port in choice.vnf.ports]) == ((VnfKind.VM,), ["s1-u", "sgi"])
    assert (choice.forwarding, choice.image.file) == ("nextepc", "images/vepc.qcow2")
    assert VnfChoice.model_validate_json(choice.model_dump_json()) == choice


def test_in_the_lab_it_is_a_vnf_of_two_ports_that_a_record_can_hold():
    project = open_project(ROOT)
    use = VnfUse(vnf="vepc", kind=VnfKind.PROCESS)
    choice = resolve(use, project.load_variant("linux-bridge"), project)
    assert choice is not None
    assert (choice.vnf.kinds, [port.name for port in choice.vnf.ports]) == ((VnfKind.PROCESS,), ["s1-u", "sgi"])
    assert VnfChoice.model_validate_json(choice.model_dump_json()) == choice
