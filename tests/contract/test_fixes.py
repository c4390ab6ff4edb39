"""What users are told to do: it holds on hosts of every kind, and says what it takes from others.

Every text of the package, of the roles, of the images' agents and of the guides is read, whoever prints it: a command
that harms where a host is another one than the author's is in none of them, or says so beside it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.contract.source import ROOT, assert_none, nodes, python_files

pytestmark = pytest.mark.xdist_group("syntax")
PROGRAMS = ("nfvbed", "images")
PLAIN = ("deploy/roles/**/*.yml", "deploy/roles/**/files/*", "docs/**/*.md", "README.md", "kolla/**/*.md")
OTHERS = r"yours|if no program|if no instance boots|if it is not needed|if nothing uses|wait (?:for|until)"


@dataclass(frozen=True)
class Rule:
    """A kind of advice."""

    advice: str
    """By which it is known."""
    beside: str = ""
    """What has to be in the same text; empty: nothing helps."""
    in_guides: bool = True
    """Whether guides and roles are read, too; what they tell of programs is mostly no advice."""

    def is_broken_by(self, text: str) -> bool:
        """Whether a text gives the advice, and not what has to be beside it."""
        return bool(re.search(self.advice, text)) and not (self.beside and re.search(self.beside, text))


RULES = {
    "pages of the default size": Rule(
        r"sysctl\b[^.;\n]*nr_hugepages|vm\.nr_hugepages\s*=\s*[\dN]|/proc/sys/vm/nr_hugepages"
    ),
    "pages without their size": Rule(r"\bhugepages=(?!%s)[\w{<]", r"hugepagesz="),
    "a parameter that AMD's kernels do not know": Rule(r"amd_iommu=on"),
    "one distribution's packages": Rule(r"\b(?:apt|apt-get|dnf|yum|zypper) (?:-\w+ )*install\b"),
    "a module without the kernel's option": Rule(
        r"\bmodprobe (?!-r|without)[a-z{-]", r"CONFIG_|kernel with|all ports of all|in the node"
    ),
    "modules that others use are unloaded": Rule(r"modprobe -r|\brmmod\b", r"all ports of all|nobody"),
    "functions that guests have are taken away": Rule(r"echo 0 >\s*\S*sriov_numvfs", OTHERS),
    "a driver is taken from a program": Rule(r"echo \S+ > \S*unbind|unset-override [{\d]", OTHERS),
    "a link is set down": Rule(r"ip link set \S+ down", OTHERS),
    "the embedded switch changes its mode": Rule(r"devlink dev eswitch set", OTHERS),
    "programs of others are ended": Rule(
        r"\b[Ee]nd (?:that|the|this|those|it|another|other|programs)\b (?!of\b)|\b(?:pkill|killall)\b"
        r"|\b[Ss]top (?:what|that|the program)|[Ff]ree memory\b",
        OTHERS,
        in_guides=False,
    ),
    "instances of others are removed": Rule(r"remove (?:instances|ports)\b", OTHERS),
    "something of a cloud is deleted": Rule(
        r"openstack (?:stack|image|server|port|network) delete", rf"{OTHERS}|nothing but this"
    ),
    "a port of a switch is deleted": Rule(r"\(ovs-vsctl del-port", OTHERS),
    "a port loses its filter": Rule(r"openstack \w+ set [^;]*--disable-port-security", r"nothing filters"),
    "threads of all are switched off": Rule(r"off >? ?\S*smt/control", r"yours alone"),
    "caches of all are dropped": Rule(r"drop_caches"),
    "control groups of all change": Rule(r"systemd\.unified_cgroup_hierarchy", r"version 1"),
    "a folder that systemd keeps from writing": Rule(r"mount -t cgroup2 \S+ /sys/fs/cgroup"),
    "a tool that not every host has": Rule(r"\bcpupower\b"),
    "lock-ups are not told": Rule(r"nmi_watchdog", r"not told"),
    "bridges of all are filtered": Rule(r"br_netfilter \(", r"all bridges of this host"),
}
HARMFUL = {
    "pages of the default size": "sysctl vm.nr_hugepages=1024, best right after booting",
    "pages without their size": "reserve them at boot (hugepages=N)",
    "a parameter that AMD's kernels do not know": "boot with intel_iommu=on or amd_iommu=on",
    "one distribution's packages": "apt install libsctp1",
    "a module without the kernel's option": "modprobe veth",
    "modules that others use are unloaded": "modprobe -r mlx4_en; modprobe mlx4_core",
    "functions that guests have are taken away": "echo 0 > /sys/bus/pci/devices/0/sriov_numvfs, then echo 4 into it",
    "a driver is taken from a program": "driverctl unset-override 0000:3b:00.0",
    "a link is set down": "ip link set eth1 down",
    "the embedded switch changes its mode": "or: devlink dev eswitch set pci/... mode legacy",
    "programs of others are ended": "end that process and remove the path, then deploy again",
    "instances of others are removed": "reserve more, or remove instances that are not needed",
    "something of a cloud is deleted": "remove it (openstack image delete), then again",
    "a port of a switch is deleted": "remove that port (ovs-vsctl del-port p0)",
    "a port loses its filter": "openstack port set --no-security-group --disable-port-security p (its owner)",
    "threads of all are switched off": "echo off > /sys/devices/system/cpu/smt/control",
    "caches of all are dropped": "echo 1 > /proc/sys/vm/drop_caches",
    "control groups of all change": "boot with systemd.unified_cgroup_hierarchy=1",
    "a folder that systemd keeps from writing": "mount -t cgroup2 none /sys/fs/cgroup/unified",
    "a tool that not every host has": "cpupower frequency-set -g performance",
    "lock-ups are not told": "echo 0 > /proc/sys/kernel/nmi_watchdog",
    "bridges of all are filtered": "modprobe br_netfilter (of a kernel with CONFIG_BRIDGE_NETFILTER)",
}
"""What was advised once, or would be in the same words: each rule has to see its own."""


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a program with their lines, joined as they are printed; docstrings advise no user."""
    silent = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    for node in nodes(path):
        if isinstance(node, ast.JoinedStr):
            parts = [
                part.value if isinstance(part, ast.Constant) else "{" + ast.unparse(part.value) + "}"
                for part in node.values
                if isinstance(part, ast.Constant | ast.FormattedValue)
            ]
            silent |= {id(inner) for part in node.values for inner in ast.walk(part)}
            yield node.lineno, "".join(map(str, parts))
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.lineno, node.value


@cache
def programs() -> tuple[tuple[str, str], ...]:
    """Return where a program has a text, and the text."""
    return tuple((f"{path}:{line}", text) for path in python_files(*PROGRAMS) for line, text in texts_of(path))


@cache
def guides() -> tuple[tuple[str, str], ...]:
    """Return where guides and roles have a paragraph or an entry of a list or table, and it."""
    return tuple(_parts())


def _parts() -> Iterator[tuple[str, str]]:
    for pattern in PLAIN:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and path.suffix in (".md", ".yml", ""):
                for number, part in enumerate(re.split(r"\n\s*\n|\n(?=[-|*] )", path.read_text())):
                    yield f"{path.relative_to(ROOT)}, part {number}", part


def test_no_text_advises_what_harms_without_saying_so():
    broken = [
        f"{name}: {where}: {text.strip()[:200]}"
        for name, rule in RULES.items()
        for where, text in (*programs(), *(guides() if rule.in_guides else ()))
        if rule.is_broken_by(text)
    ]
    assert_none(broken)


def test_each_rule_sees_what_it_is_for():
    assert_none(name for name, rule in RULES.items() if not rule.is_broken_by(HARMFUL[name]))


def test_every_text_of_the_package_is_read():
    """Also those that are put together of several, and of values."""
    seen = " ".join(text for _, text in (*programs(), *guides()))
    for words in ("hugepagesz=2M hugepages=", "modprobe -r mlx4_en", "unset-override {port.pci}", "nfvbed-hugepages"):
        assert words in seen
