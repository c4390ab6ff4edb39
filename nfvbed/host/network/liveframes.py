"""Whether the kernel can send frames from an XDP program (BPF_PROG_TEST_RUN with live frames): it sends one."""

import ctypes
import os
import platform
import struct

from nfvbed.host.network.namespaces import libc

_SYSCALL = {"x86_64": 321, "aarch64": 280}
_PROG_LOAD, _PROG_TEST_RUN = 5, 10
_PROG_TYPE_XDP = 6
_LIVE_FRAMES = 1 << 1
_ATTRIBUTE_SIZE = 128

_DROP = struct.pack("<BBhi", 0xB7, 0, 0, 1) + struct.pack("<BBhi", 0x95, 0, 0, 0)
"""`r0 = XDP_DROP; exit`."""


def _bpf(command: int, attribute: bytes) -> int:
    buffer = ctypes.create_string_buffer(attribute.ljust(_ATTRIBUTE_SIZE, b"\0"), _ATTRIBUTE_SIZE)
    result = libc.syscall(_SYSCALL[platform.machine()], command, buffer, _ATTRIBUTE_SIZE)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), f"bpf command {command}")
    return int(result)


def _load_drop() -> int:
    """Load a program that drops everything; return its file descriptor."""
    program = ctypes.create_string_buffer(_DROP, len(_DROP))
    licence = ctypes.create_string_buffer(b"GPL")
    # union bpf_attr: type, count, program, licence; then log level, log size, log buffer, kernel version, flags.
    return _bpf(
        _PROG_LOAD, struct.pack("<IIQQ", _PROG_TYPE_XDP, 2, ctypes.addressof(program), ctypes.addressof(licence))
    )


def try_xdp() -> str:
    """Load an XDP program; return why it cannot be loaded here, or an empty text."""
    if platform.machine() not in _SYSCALL:
        return f"the bpf system call's number on {platform.machine()} is not known"
    try:
        os.close(_load_drop())
    except OSError as failure:
        return f"an XDP program cannot be loaded: {failure.strerror}"
    return ""


def try_live_frames() -> str:
    """Send one frame into a program that drops it; return why that cannot be done here, or an empty text."""
    if platform.machine() not in _SYSCALL:
        return f"the bpf system call's number on {platform.machine()} is not known"
    try:
        handle = _load_drop()
    except OSError as failure:
        return f"an XDP program cannot be loaded: {failure.strerror}"
    frame = ctypes.create_string_buffer(64)
    # program, return value, size in, size out, data in, data out, repeat, duration, context sizes, contexts, flags
    run = struct.pack("<IIIIQQIIIIQQI", handle, 0, 64, 0, ctypes.addressof(frame), 0, 1, 0, 0, 0, 0, 0, _LIVE_FRAMES)
    try:
        _bpf(_PROG_TEST_RUN, run)
    except OSError as failure:
        return f"live frames (kernel 5.18 or later) are refused: {failure.strerror}"
    finally:
        os.close(handle)
    return ""
