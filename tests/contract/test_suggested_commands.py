"""Every command that a message gives as the next step, or a page shows, is one that is taken, options and all."""

import ast
import re
import shlex
import subprocess
from functools import cache
from itertools import cycle
from pathlib import Path

import click
import pytest

from nfvbed.cli.main import VERBS, group
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError
from nfvbed.records import VnfKind
from nfvbed.spec.choices import resolve
from nfvbed.spec.commands import TracedPath, next_commands, trace_command
from nfvbed.spec.vnf import ImageSpec, VnfUse
from tests.contract.source import assert_none, nodes, python_files

pytestmark = pytest.mark.xdist_group("syntax")
PROSE = re.compile(r"[,;:.)`]+$")
TOPOLOGIES = ("p2p", "pvp", "pvvp", "pvpv", "p2v", "vepc")
SIZES = (64, 2000, 9018, "imix")
VALUE = "VALUE"
"""Stands for a value that is put into a text when it is shown."""


def texts():
    """Return (place, text) of every text in the package, its values left open."""
    found = []
    for path in python_files("nfvbed"):
        inner = {id(part) for node in nodes(path) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes(path):
            if isinstance(node, ast.JoinedStr):
                parts = (str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)
                found.append((f"{path}:{node.lineno}", "".join(parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
                found.append((f"{path}:{node.lineno}", node.value))
    return found


def commands(said):
    """Yield the words of each command in a text, as far as they can be some: options, places for values, arguments."""
    for match in re.finditer(r"(?<![\w.-])nfvbed ([a-z][a-z-]*)((?: +\S+)*)", said):
        verb, rest = match.groups()
        if verb not in VERBS or rest[:1] not in ("", " "):
            continue
        words = [verb]
        for word in re.split(r" +", rest.strip()):
            bare = PROSE.sub("", word).strip("'\"`(")
            is_option = bare.startswith("--")
            is_open = VALUE in bare or bool(re.fullmatch(r"[A-Z][A-Z_|]+|<[a-z-]+>|[a-z]+\.ya?ml", bare))
            if not bare or not (is_option or is_open or words[-1].startswith("--")):
                break
            words.append(bare)
            if PROSE.search(word):
                break
        yield words


@cache
def command_of(verb):
    found = group.get_command(click.Context(group), verb)
    assert found is not None
    return found


def options_of(command):
    return {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}


def unknown_options(words):
    command = command_of(words[0])
    if isinstance(command, click.Group) and len(words) > 1 and words[1] in command.commands:
        command, words = command.commands[words[1]], words[1:]
    names = {word.partition("=")[0] for word in words[1:] if word.startswith("--")}
    return sorted(name for name in names - set(options_of(command)) if VALUE not in name)


def test_a_command_in_a_text_has_a_verb_and_options_that_there_are():
    suggested = [(place, words) for place, said in texts() for words in commands(said)]
    assert len(suggested) > 100
    assert_none(
        f"{place}: nfvbed {' '.join(words)}: no option {name}"
        for place, words in suggested
        for name in unknown_options(words)
    )


def accepted(command):
    """Parse a whole command as the command line does, and run nothing."""
    program, *words = shlex.split(command)
    assert program == "nfvbed"
    verb, *arguments = words
    with command_of(verb).make_context(verb, arguments) as context:
        return context.params


def uses():
    yield None
    for kind, forwarding in (
        (VnfKind.PROCESS, "io"),
        (VnfKind.PROCESS, "bridge"),
        (VnfKind.CONTAINER, "bridge"),
        (VnfKind.VM, "io"),
    ):
        yield VnfUse(kind=kind, forwarding=forwarding)
    yield VnfUse(kind=VnfKind.VM, forwarding="bridge", vnic="tap", offloads=False)
    yield VnfUse(kind=VnfKind.VM, image=ImageSpec(file="/images/my own.qcow2", agent=False), flavor="pinned")
    yield VnfUse(vnf="vepc", forwarding="xdp-gateway", bearers=50, pcrf="stand-in")


def paths():
    """Yield a path of every kind on every variant."""
    project = open_project()
    lab = project.load_site("lab")
    for name in project.variant_names:
        variant = project.load_variant(name, lab)
        for use in uses():
            try:
                choice = None if use is None else resolve(use, variant, project)
            except NfvbedError:
                continue
            for topology, size in zip(TOPOLOGIES, cycle(SIZES), strict=False):
                yield TracedPath(name, topology, size, choice, "devcloud" if size == 2000 else "lab")


def carried(path):
    """Return the values that a command may have for what a path is."""
    values = {
        "variant": (path.variant,),
        "topology": ("pvp" if path.topology == "p2v" else path.topology,),
        "frame_size": (1518 if path.frame_size == "imix" else path.frame_size,),
        "site": (path.site,),
    }
    if path.vnf is None or path.topology == "p2p":
        return values
    return values | {
        "vnf": (path.vnf.vnf.name,),
        "kind": (path.vnf.kind.value,),
        "forwarding": (path.vnf.forwarding, None),
        "image": (None, "/images/my own.qcow2"),
    }


def test_the_command_that_traces_a_path_carries_all_that_the_path_is():
    wrong = []
    for path in paths():
        command = trace_command(path)
        params = accepted(command)
        wrong += [f"{command}: {key} of {path}" for key, may_be in carried(path).items() if params[key] not in may_be]
    assert_none(wrong)


def test_what_is_offered_next_is_taken():
    for site in ("lab", "devcloud"):
        for command in next_commands("ovs-dpdk", site).split(", "):
            accepted(command)


PAGES = (Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").rglob("*.md")))
OF_CLICK = Path("docs/reference/cli.md")
"""It has the usage of each command, as click writes it."""
BETWEEN_COMMANDS = {"&&", "||", ";", "|", ">", ">>", "<", "2>"}


def shown():
    """Yield (place, line) of each line of code in the pages, with those that continue it."""
    for page in sorted(set(PAGES) - {OF_CLICK}):
        fenced, begun = False, ""
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if line.startswith("```"):
                fenced = not fenced
            elif fenced or line.startswith("    "):
                said = f"{begun} {line.strip()}"
                begun = said.removesuffix("\\") if said.endswith("\\") or said.count("'") % 2 else ""
                if not begun:
                    yield f"{page}:{number}", said.strip()


def shown_commands():
    """Yield (place, words) of each make or nfvbed command that a page shows."""
    for place, line in shown():
        if not re.match(r"(sudo )?(\w+=\S+ )*(make|(\S*/)?nfvbed) [a-z-]", line):
            continue
        words = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
        words.whitespace_split = True
        command = []
        for word in [*words, ";"]:
            if word not in BETWEEN_COMMANDS:
                command.append(word)
                continue
            while command and (command[0] == "sudo" or re.fullmatch(r"\w+=.*", command[0])):
                del command[0]
            if command and command[0].rpartition("/")[2] in ("make", "nfvbed"):
                yield place, [command[0].rpartition("/")[2], *command[1:]]
            command = []


def refused(words):
    """Say why nfvbed's command line does not take a command; files that it names need not be there."""
    command, name, rest = group, "nfvbed", words[1:]
    try:
        while isinstance(command, click.Group) and rest:
            option = options_of(command).get(rest[0])
            if option is not None:
                rest = rest[1 if option.is_flag else 2 :]
                continue
            name, command, rest = rest[0], command.get_command(click.Context(command), rest[0]), rest[1:]
            if command is None:
                return f"no {name}"
        with command.make_context(name, rest):
            return ""
    except click.UsageError as error:
        return "" if isinstance(error, click.BadParameter) and "does not exist" in error.message else error.message


def test_a_command_that_a_page_shows_is_taken():
    listed = subprocess.run(["make", "help"], capture_output=True, text=True, check=True).stdout
    targets = {line.split()[0] for line in listed.splitlines() if line.startswith("  ")}
    wrong, seen = [], 0
    for place, words in shown_commands():
        seen += 1
        if words[0] == "nfvbed":
            why = refused(words)
        else:
            wanted = {word for word in words[1:] if "=" not in word and not word.startswith("-")}
            why = ", ".join(f"no target {name}" for name in sorted(wanted - targets) if name.upper() != name)
        if why:
            wrong.append(f"{place}: {' '.join(words)}: {why}")
    assert seen > 200
    assert_none(wrong)
