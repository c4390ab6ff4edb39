"""Probes of XDP: AF_XDP sockets, and sending live frames from a BPF test run."""

import ctypes
import os
import platform
import socket
import struct

from nfvbed.deploy.doctor.findings import Finding, State
from nfvbed.deploy.doctor.host import RECORDED, Host

_AF_XDP = 44
_SYS_BPF = {"x86_64": 321, "aarch64": 280}
_PROG_LOAD, _PROG_TEST_RUN = 5, 10
_PROG_TYPE_XDP = 6
_LIVE_FRAMES = 1 << 1
_ATTRIBUTE_BYTES = 120
_XDP_DROP_PROGRAM = struct.pack("<BBhi", 0xB7, 0, 0, 1) + struct.pack("<BBhi", 0x95, 0, 0, 0)
"""r0 = XDP_DROP; exit"""


def probe_af_xdp(host: Host) -> Finding:
    """Open a socket of the family."""
    topic = "AF_XDP"
    if not host.live:
        return Finding(topic=topic, state=State.UNKNOWN, summary="not tried", probed=RECORDED)
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        summary, fix = f"no socket: {error.strerror}", "boot a kernel with CONFIG_XDP_SOCKETS; run as root"
        return Finding(topic=topic, state=State.ABSENT, summary=summary, probed="opened a socket", fix=fix)
    return Finding(topic=topic, state=State.PRESENT, summary="a socket opens", probed="opened a socket")


def probe_live_frames(host: Host) -> Finding:
    """Send one live frame through an XDP program that drops it: what the generator's XDP engine is built on."""
    topic, probed = "XDP live frames", "ran a program that drops one live frame"
    if not host.live:
        return Finding(topic=topic, state=State.UNKNOWN, summary="not tried", probed=RECORDED)
    try:
        program = _load_drop_program()
        try:
            _run_live(program)
        finally:
            os.close(program)
    except OSError as error:
        summary, fix = f"refused: {error.strerror}", "boot kernel 5.18 or later; run as root"
        return Finding(topic=topic, state=State.ABSENT, summary=summary, probed=probed, fix=fix)
    return Finding(topic=topic, state=State.PRESENT, summary="a frame was run", probed=probed)


def _load_drop_program() -> int:
    code, licence = ctypes.create_string_buffer(_XDP_DROP_PROGRAM), ctypes.create_string_buffer(b"GPL")
    instructions = len(_XDP_DROP_PROGRAM) // 8
    addresses = ctypes.addressof(code), ctypes.addressof(licence)
    return _bpf(_PROG_LOAD, struct.pack("<IIQQ", _PROG_TYPE_XDP, instructions, *addresses))


def _run_live(program: int) -> None:
    """See bpf(2) and `union bpf_attr`, member `test`."""
    frame = ctypes.create_string_buffer(bytes(60), 60)
    attributes = struct.pack(
        "<IIIIQQIIIIQQII", program, 0, 60, 0, ctypes.addressof(frame), 0, 1, 0, 0, 0, 0, 0, _LIVE_FRAMES, 0
    )
    _bpf(_PROG_TEST_RUN, attributes)


def _bpf(command: int, attributes: bytes) -> int:
    number = _SYS_BPF.get(platform.machine())
    if number is None:
        raise OSError(38, f"the bpf call's number on {platform.machine()} is not known here")
    buffer = ctypes.create_string_buffer(attributes, _ATTRIBUTE_BYTES)
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(libc.syscall(number, command, buffer, _ATTRIBUTE_BYTES))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
