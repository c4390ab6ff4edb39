"""The program that draws, in a process of its own: what ends it (`vl-convert` aborts on some texts) costs one picture.

It imports nothing of nfvbed, and is run by its path. Requests come on standard input and answers leave on standard
output: a length of four bytes, most significant first, and so many bytes. A request is JSON; an answer begins with `+`
and what was drawn, or with `-` and what was wrong. It ends when its input does, after its idle time, or by SIGALRM
when one request takes too long, so that it is not left behind by a parent that was killed.

Arguments: idle time and longest time of one request, in s.
"""

import json
import os
import resource
import select
import signal
import struct
import sys
from typing import Any, BinaryIO

import vl_convert

LENGTH = struct.Struct(">I")


def main() -> None:
    """Answer requests until the input ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    idle_s, longest_s = map(float, sys.argv[1:])
    requests, answers = sys.stdin.buffer, _private_output()
    while select.select([requests], [], [], idle_s)[0] and (content := _read(requests)) is not None:
        signal.setitimer(signal.ITIMER_REAL, longest_s)
        try:
            answer = b"+" + _answer(json.loads(content))
        except ValueError as failure:
            answer = b"-" + f"{type(failure).__name__}: {failure}".encode(errors="replace")
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(LENGTH.pack(len(answer)) + answer)
        answers.flush()
    os._exit(0)  # the library's threads have nothing to finish


def _private_output() -> BinaryIO:
    """Return standard output; what a library prints goes to standard error from now on."""
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "wb")


def _read(requests: BinaryIO) -> bytes | None:
    head = requests.read(LENGTH.size)
    return requests.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None


def _answer(request: dict[str, Any]) -> bytes:
    match request:
        case {"svg": spec}:
            return str(vl_convert.vegalite_to_svg(spec)).encode()
        case {"png": spec, "scale": scale}:
            return bytes(vl_convert.vegalite_to_png(spec, scale=scale))
        case {"bundle": snippet}:
            return str(vl_convert.javascript_bundle(snippet)).encode()
    raise ValueError("no such request")


if __name__ == "__main__":
    main()
