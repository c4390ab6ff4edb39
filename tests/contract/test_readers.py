"""What others wrote is read by the bounded readers alone; what goes round them is listed here, each with its reason."""

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.contract.source import assert_none, nodes, python_files

pytestmark = pytest.mark.xdist_group("syntax")
FOLDERS = ("nfvbed", "horizon-plugin", "deploy", "kolla", "images", "setup")
PARSERS = {
    "yaml": ("load", "load_all", "safe_load", "safe_load_all", "full_load", "full_load_all", "unsafe_load")
    + ("unsafe_load_all", "parse", "compose", "compose_all", "scan"),
    "zipfile": ("ZipFile", "PyZipFile", "is_zipfile"),
    "tarfile": ("open", "TarFile", "is_tarfile"),
    "gzip": ("open", "decompress", "GzipFile"),
    "bz2": ("open", "decompress", "BZ2File", "BZ2Decompressor"),
    "lzma": ("open", "decompress", "LZMAFile", "LZMADecompressor"),
    "zlib": ("decompress", "decompressobj"),
    "shutil": ("unpack_archive",),
    "json": ("load",),
    "ast": ("parse", "literal_eval"),
    "csv": ("reader", "DictReader"),
    "pickle": ("load", "loads", "Unpickler"),
    "marshal": ("load", "loads"),
    "tomllib": ("load", "loads"),
    "configparser": ("ConfigParser", "RawConfigParser"),
    "plistlib": ("load", "loads"),
}
"""What unfolds, executes or descends without bounds of its own, by module."""
BUILT_IN = ("eval", "exec", "compile")
FILES = ("read_text", "read_bytes", "read", "readline")
JSON = ("loads", "model_validate_json")
"""What takes a JSON text: a finding where the text is a file's."""

READERS = {
    "nfvbed/spec/boundedyaml.py": ({"yaml.parse"}, "the bounded reader of YAML: words for a fault of a short text"),
    "nfvbed/vnfs/descriptors/archive.py": ({"zipfile.ZipFile"}, "the bounded reader of archives"),
    "nfvbed/bundle/archive.py": ({"zipfile.ZipFile"}, "the bounded reader of bundles, MOST_UNPACKED; and writes them"),
    "nfvbed/vsperf/conf/interpreter.py": ({"ast.parse"}, "the bounded reader of VSPERF's files, MAX_FILE_BYTES"),
    "nfvbed/vsperf/conf/results.py": ({"csv.DictReader"}, "the bounded reader of VSPERF's results, MOST_BYTES"),
}
ROUND = {
    "nfvbed/vsperf/conf/macros.py": ({"ast.parse"}, "a sum within a file that the interpreter has read"),
    "nfvbed/vsperf/conf/parameters.py": ({"ast.literal_eval"}, "a text of the command line, MAX_TEXT"),
    "nfvbed/vnfs/descriptors/descriptorfile.py": ({"zipfile.is_zipfile"}, "looks at the end of an ordinary file"),
    "nfvbed/vnfs/descriptors/csar.py": ({"zipfile.ZipFile"}, "writes"),
    "nfvbed/traffic/trexoptions.py": ({"zipfile.ZipFile"}, "writes"),
    "nfvbed/host/remote/nfvgenthere.py": ({"tarfile.TarFile"}, "writes"),
    "nfvbed/traffic/trex/server.py": ({"yaml.safe_load"}, "TRex's own copy of PyYAML, 64 KiB of its operator's"),
    "nfvbed/compare/rows/latency.py": ({"zlib.decompressobj"}, "bounded by MOST_UNFOLDED"),
    "nfvbed/vnfs/sockets/guest_hosts.py": ({"zlib.decompressobj"}, "bounded by _PART_BYTES and _MOST_BYTES"),
    "nfvbed/measure/telemetry/probe.py": ({"gzip.decompress"}, "the kernel's configuration"),
    "nfvbed/sites/kolla/output.py": ({"json of a file"}, "bounded by read_text"),
    "nfvbed/host/qemu/images.py": ({"json of a file"}, "bounded by read_text; beside an image"),
    "nfvbed/sites/guest_node/files.py": ({"lzma.decompress"}, "modules of the kernel, from Debian's package"),
    "nfvbed/cloud/box/images/environments.py": ({"zipfile.ZipFile"}, "a package of Ansible's, whose digest is held"),
    "nfvbed/cloud/box/images/registry.py": ({"tarfile.open"}, "writes"),
    "images/builder/rootfs.py": ({"lzma.LZMADecompressor"}, "Debian's packages, whose digests are held"),
    "nfvbed/vnfs/descriptors/cloudimage.py": ({"json of a file"}, "bounded by read_text; beside an image"),
}
"""Places that go round the readers, or use one of the parsers on what is bounded already."""
OWN_JSON = {
    "deploy/roles/nfvbed_ovs/library/nfvbed_ovs_settings.py",
    "nfvbed/cli/outline.py",
    "nfvbed/dashboard/jobs/files.py",
    "nfvbed/dataplanes/ovs/steering/controller.py",
    "nfvbed/dataplanes/ovs/steering/path_file.py",
    "nfvbed/host/ledger/hostlock.py",
    "nfvbed/host/qemu/accelerator.py",
    "nfvbed/host/remote/keeper.py",
    "nfvbed/host/workspace/trialsign.py",
    "nfvbed/sharedcache.py",
    "nfvbed/sites/kolla/executor/journal.py",
    "nfvbed/sites/kolla/executor/succession.py",
    "nfvbed/dataplanes/computes/linked.py",
    "nfvbed/dataplanes/computes/packages.py",
    "nfvbed/cloud/box/images/build.py",
    "nfvbed/cloud/box/images/record.py",
    "nfvbed/cloud/box/keeper.py",
    "nfvbed/cloud/box/machine.py",
    "nfvbed/cloud/box/pulled.py",
    "nfvbed/cloud/box/root.py",
    "nfvbed/cloud/devcloud/nodes/enter.py",
    "nfvbed/cloud/devcloud/root/build.py",
    "nfvbed/cloud/devcloud/seed.py",
    "nfvbed/cloud/devcloud/services/settings.py",
    "nfvbed/cloud/devcloud/stages.py",
    "nfvbed/dataplanes/vpp/nodeprocess.py",
    "nfvbed/sites/openstack/descriptorvnfs.py",
    "nfvbed/sites/openstack/storeddeployment.py",
    "nfvbed/vnfs/epc/core.py",
    "nfvbed/vnfs/epc/emulation.py",
    "nfvbed/vnfs/epc/pcrf.py",
    "nfvbed/vnfs/epc/store.py",
    "nfvbed/vnfs/onboarded.py",
    "nfvbed/vsperf/conf/released.py",
    "images/builder/__main__.py",
    "images/builder/packages.py",
    "images/builder/recipe.py",
    "images/builder/sidecar.py",
    "images/vepc/root/usr/lib/vepc/vepcagent/__main__.py",
}
"""Files whose JSON nfvbed itself wrote, for itself: in its run directory, below .nfvbed, on a socket, or
in the repository."""


@cache
def _calls() -> tuple[tuple[str, str, int], ...]:
    return tuple(_found())


def _found() -> Iterator[tuple[str, str, int]]:
    for path in python_files(*FOLDERS):
        for node in nodes(path):
            if isinstance(node, ast.Call) and (name := _named(node)):
                yield str(path), name, node.lineno
            elif isinstance(node, ast.ImportFrom) and node.module in PARSERS:
                yield from (
                    (str(path), f"{node.module}.{one.name}", node.lineno)
                    for one in node.names
                    if one.name in PARSERS[node.module]
                )


def _named(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) if name in BUILT_IN:
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name) if name in PARSERS.get(module, ()):
            return f"{module}.{name}"
        case ast.Attribute(attr=name) if name in JSON and any(map(_reads, node.args)):
            return "json of a file"
    return ""


def _reads(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in FILES
        case ast.Call(func=ast.Name(id="read_text" | "read_bytes")):
            return True
    return False


KNOWN = {path: names for path, (names, _) in {**READERS, **ROUND}.items()}


def test_parsers_are_called_by_the_readers_alone():
    found = [
        f"{path}:{line} {name}"
        for path, name, line in _calls()
        if name not in KNOWN.get(path, ()) and not (name == "json of a file" and path in OWN_JSON)
    ]
    assert_none(found, "read it with nfvbed/spec/boundedyaml.py, textfile.py or vnfs/descriptors/archive.py:")


def test_the_list_has_nothing_that_is_gone():
    called = {(path, name) for path, name, _ in _calls()}
    listed = {(path, name) for path, names in KNOWN.items() for name in names}
    own = {(path, "json of a file") for path in OWN_JSON}
    assert_none(f"{path}: {name}" for path, name in (listed | own) - called)
