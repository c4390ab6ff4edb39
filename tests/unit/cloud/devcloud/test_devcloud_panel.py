"""Horizon's panel in a cloud: its files, and the relay by which Horizon alone reaches this machine's dashboard."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud.nodes import relay, socket_relay
from nfvbed.cloud.devcloud.services import horizon, library


def test_all_of_the_panel_is_copied():
    copied = {Path(copy.path).relative_to(library.FOLDER) for copy in library.PANEL if library.FOLDER in copy.path}
    assert {Path("nfvbed_horizon") / name for name in ("panel.py", "views.py", "templates/nfvbed/index.html")} <= copied
    enabled = [copy for copy in library.PANEL if "/enabled/" in copy.path]
    assert [Path(copy.path).name for copy in enabled] == ["_8510_nfv_panel_group.py", "_8520_nfvbed_panel.py"]
    sources = {copy.source for copy in library.PANEL}
    folder = next(iter(enabled)).source.parents[1]
    assert {path for path in folder.rglob("*") if path.suffix in (".py", ".html")} == sources
    assert horizon.SERVICE.copies == library.PANEL
    assert dict(horizon.SERVICE.processes[0].environment)["PYTHONPATH"] == library.FOLDER


@pytest.mark.parametrize("depth", [1, 4], ids=["short", "long"])
def test_the_socket_is_its_users_alone_also_after_a_killed_relay(tmp_path, depth):
    folder = tmp_path.joinpath(*["a" * 40] * depth)
    folder.mkdir(parents=True)
    path = folder / "dashboard.socket"
    for _ in range(2):
        with socket_relay.listen(path, os.getuid()):
            found = path.stat()
            assert stat.S_ISSOCK(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o600
            assert found.st_uid == os.getuid()
    assert [one.name for one in folder.iterdir()] == ["dashboard.socket"]


def test_bytes_pass_both_ways_and_nobody_there_ends_the_connection(tmp_path):
    async def upper(reader, writer):
        writer.write((await reader.readline()).upper())
        writer.close()

    async def asked(port):
        path = tmp_path / "s"
        listener = socket_relay.listen(path, os.getuid())
        served = await asyncio.start_unix_server(
            lambda reader, writer: relay.relay(port, reader, writer), sock=listener
        )
        async with served:
            reader, writer = await asyncio.open_unix_connection(str(path))
            writer.write(b"hello\n")
            answer = await reader.read()
            writer.close()
        return answer

    async def both():
        server = await asyncio.start_server(upper, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            there = await asked(port)
        return there, await asked(port)

    assert asyncio.run(asyncio.wait_for(both(), 20)) == (b"HELLO\n", b"")
