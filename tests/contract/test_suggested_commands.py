"""Every nfvbed command that a message gives as the next step is one that the command line takes, options and all."""

import ast
import re
import shlex

import click
import pytest

from nfvbed.cli.main import VERBS, group
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError
from nfvbed.records import VnfKind
from nfvbed.spec.choices import resolve
from nfvbed.spec.commands import TracedPath, next_commands, trace_command
from nfvbed.spec.vnf import ImageSpec, VnfUse
from tests.contract.source import python_files, text

PROJECT = open_project()
PROSE = re.compile(r"[,;:.)`]+$")
VALUE = "VALUE"
"""Of a value that is put into a text when it is shown."""


def texts():
    """Return (place, text) of every text in the package, its values left open."""
    found = []
    for path in python_files("nfvbed"):
        tree = ast.parse(text(path))
        inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
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


def command_of(verb):
    found = group.get_command(click.Context(group), verb)
    assert found is not None
    return found


def options_of(command):
    return {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}


SUGGESTED = [(place, words) for place, said in texts() for words in commands(said)]


def test_there_are_many_of_them():
    assert len(SUGGESTED) > 100


@pytest.mark.parametrize("place, words", SUGGESTED, ids=[f"{place} {' '.join(words)}" for place, words in SUGGESTED])
def test_a_command_in_a_text_has_a_verb_and_options_that_there_are(place, words):
    command = command_of(words[0])
    if isinstance(command, click.Group) and len(words) > 1 and words[1] in command.commands:
        command, words = command.commands[words[1]], words[1:]
    known = options_of(command)
    for word in words[1:]:
        name = word.partition("=")[0]
        if name.startswith("--") and VALUE not in name:
            assert name in known, f"{place}: nfvbed {' '.join(words)}: no option {name}"


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


@pytest.mark.parametrize("name", PROJECT.variant_names)
def test_the_command_that_traces_a_path_carries_all_that_the_path_is(name):
    variant = PROJECT.load_variant(name, PROJECT.load_site("lab"))
    for use in uses():
        try:
            choice = None if use is None else resolve(use, variant, PROJECT)
        except NfvbedError:
            continue
        for topology in ("p2p", "pvp", "pvvp", "pvpv", "p2v", "vepc"):
            for size in (64, 2000, 9018, "imix"):
                path = TracedPath(name, topology, size, choice, "devcloud" if size == 2000 else "lab")
                params = accepted(trace_command(path))
                assert params["variant"] == name
                assert params["topology"] == ("pvp" if topology == "p2v" else topology)
                assert params["frame_size"] == (1518 if size == "imix" else size)
                assert params["site"] == path.site
                if choice is not None and topology != "p2p":
                    assert (params["vnf"], params["kind"]) == (choice.vnf.name, choice.kind.value)
                    assert params["forwarding"] in (choice.forwarding, None)
                    assert params["image"] in (None, "/images/my own.qcow2")


@pytest.mark.parametrize("site", ["lab", "devcloud"])
def test_what_is_offered_next_is_taken(site):
    for command in next_commands("ovs-dpdk", site).split(", "):
        accepted(command)
