"""The file that VPP is started with, and where its program is looked for."""

import dataclasses
import os
from pathlib import Path

import pytest

from nfvbed.dataplanes.vpp import binaries
from nfvbed.dataplanes.vpp.startup import NIC_PLUGIN, NicPort, StartupSettings, render
from nfvbed.errors import PrerequisiteError

SETTINGS = StartupSettings(
    directory=Path("/run/x"),
    prefix="nfvbed-x",
    main_core=1,
    worker_cores=(0, 2),
    main_heap_mib=256,
    buffers=16384,
)


def program(path, text, mode=0o755):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


def test_startup_file():
    lines = [line.strip() for line in render(SETTINGS).splitlines()]
    assert "main-core 1" in lines
    assert "corelist-workers 0,2" in lines
    assert "main-heap-page-size 4K" in lines
    assert "per-node-counters on" in lines
    assert "plugin default { disable }" in lines
    assert "plugin vhost_plugin.so { enable }" in lines
    assert render(SETTINGS).count("{") == render(SETTINGS).count("}")


def test_workers_never_sleep_and_nothing_is_outside_the_run_directory():
    text = render(SETTINGS)
    assert "poll-sleep" not in text
    assert "dpdk" not in text
    paths = [word for word in text.split() if word.startswith("/")]
    assert paths
    assert all(path.startswith("/run/x") for path in paths)


def test_nics_are_given_to_dpdk_by_name():
    nics = (NicPort("p0", "0000:3b:00.0", 2, 1024), NicPort("p1", "0000:3b:00.1", 2, 1024))
    text = render(dataclasses.replace(SETTINGS, nics=nics))
    lines = [line.strip() for line in text.splitlines()]
    assert "plugin dpdk_plugin.so { enable }" in lines
    assert "dev 0000:3b:00.1 { name p1 num-rx-queues 2 num-rx-desc 1024 num-tx-desc 1024 }" in lines
    assert "uio-driver vfio-pci" in lines
    assert text.count("{") == text.count("}")


def test_a_plugin_is_looked_for_where_vpp_looks(tmp_path):
    own = tmp_path / "usr/bin/vpp"
    own.parent.mkdir(parents=True)
    program(own, "true")
    with pytest.raises(PrerequisiteError, match="has no plug-in dpdk_plugin") as caught:
        binaries.require_plugin(own, NIC_PLUGIN, "vpp-plugin-dpdk")
    assert "vpp-plugin-dpdk" in caught.value.fix
    folder = tmp_path / "usr/lib/x86_64-linux-gnu/vpp_plugins"
    folder.mkdir(parents=True)
    (folder / NIC_PLUGIN).touch()
    binaries.require_plugin(own, NIC_PLUGIN, "vpp-plugin-dpdk")


def test_named_program_comes_first(tmp_path, monkeypatch):
    own = program(tmp_path / "my-vpp", "echo vpp v26.06-release built by somebody")
    monkeypatch.setenv(binaries.VPP_VARIABLE, str(own))
    assert binaries.locate() == own
    assert binaries.version(own) == "26.06-release"


def test_program_on_the_path(tmp_path, monkeypatch):
    own = program(tmp_path / "vpp", "true")
    monkeypatch.delenv(binaries.VPP_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert binaries.locate() == own


def test_absent_program_is_reported_with_the_packages(tmp_path, monkeypatch):
    monkeypatch.delenv(binaries.VPP_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PrerequisiteError, match="VPP is not there") as caught:
        binaries.locate()
    assert caught.value.observed == "not on PATH"
    assert "vpp-plugin-core" in caught.value.fix


def test_named_program_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv(binaries.VPP_VARIABLE, str(program(tmp_path / "vpp", "true", mode=0o644)))
    with pytest.raises(PrerequisiteError) as caught:
        binaries.locate()
    assert caught.value.observed.endswith("is no program")


@pytest.mark.parametrize("text", ["echo no such library >&2; exit 127", "echo something else"])
def test_program_that_does_not_run(tmp_path, text):
    with pytest.raises(PrerequisiteError, match="VPP does not run") as caught:
        binaries.version(program(tmp_path / "vpp", text))
    assert caught.value.observed
