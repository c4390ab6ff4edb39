"""`python3 -m agent PORT CONSOLE`: says on the console that the guest is ready, and answers.

It answers on a cloud's virtio port where the machine has one, else on the serial port.
"""

import json
import os
import signal
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Callable

from agent import SCHEMA, configdrive, cpus, guest, management, virtioport
from agent.ports import discover
from agent.program import read
from agent.refusal import Refusal
from agent.service import MOST_PORTS, Service

_MAX_LINE = 65536
_FORWARD = "vloop.forward="
_MANAGE = "vloop.manage=dhcp"
_LOG_END_S = 0.2
"""For the serial ports to be empty."""
_NOBODY_S = 0.2
"""Between two looks at a virtio port that nobody has open on the host."""


def main(port: str, console: str) -> int:
    """Answer until the guest is powered off."""
    cpus.stay_off_forwarding()
    service = Service(discover())
    virtio = virtioport.find()
    line = os.open(virtio, os.O_RDWR) if virtio else _open(port)
    failed = forward_as_told(service)
    with open(console, "w") as out:
        # A line of its own, whatever the kernel has written before.
        out.write(f"\nvloop: failed: {failed}\n" if failed else f"\nvloop: ready {guest.version()}\n")
    if failed:
        return _power_off()
    if line is None:
        # Nobody can ask; the guest stays as it is.
        while True:
            signal.pause()
    _serve(line, service, answered_on_virtio if virtio else answered)
    return _power_off()


def _power_off() -> int:
    time.sleep(_LOG_END_S)
    subprocess.run(["poweroff", "-f"], check=False)
    return 0


def forward_as_told(service: Service) -> str:
    """Manage and forward as kernel command line or user data say, where they do; give why it failed.

    So the image is of use to those who cannot reach the agent: on a cloud a guest has one serial port. User data is
    what differs from instance to instance, and comes last.
    """
    try:
        told = f"{read('/proc/cmdline')} {configdrive.user_data()}"
        if _MANAGE in told.split():
            management.manage(service.ports[MOST_PORTS:])
            service.ports = service.ports[:MOST_PORTS]
    except Refusal as refusal:
        return _why(refusal)
    return forward_unasked(service, told)


def _why(refusal: Refusal) -> str:
    return ": ".join(filter(None, (refusal.document["what"], refusal.document["observed"])))


def forward_unasked(service: Service, words: str) -> str:
    """Forward as the last `vloop.forward=MODE` among the words says, where there is one; give why it failed."""
    modes = [word.partition("=")[2] for word in words.split() if word.startswith(_FORWARD)]
    if not modes:
        return ""
    try:
        service.answer({"do": "forward", "mode": modes[-1]})
    except Refusal as refusal:
        return _why(refusal)
    return ""


def _open(port: str) -> int | None:
    """Open the serial port as a plain channel for bytes; None where the machine has none."""
    try:
        line = os.open(port, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(line)
        attributes = termios.tcgetattr(line)
        attributes[4] = attributes[5] = termios.B115200
        termios.tcsetattr(line, termios.TCSANOW, attributes)
    except (OSError, termios.error):
        return None
    return line


def _serve(line: int, service: Service, answer: Callable[[bytes, Service], bytes]) -> None:
    waiting = b""
    while not service.powers_off:
        came = os.read(line, 4096)
        if not came:
            time.sleep(_NOBODY_S)
        waiting += came
        *requests, waiting = waiting.split(b"\n")
        if len(waiting) > _MAX_LINE:
            waiting = b""
        for text in filter(bytes.strip, requests):
            data = answer(text, service) + b"\n"
            while data:
                data = data[os.write(line, data) :]
            if os.isatty(line):
                termios.tcdrain(line)


def answered(text: bytes, service: Service) -> bytes:
    """Return the answer to a line of the serial port."""
    return json.dumps(reply(text, service)).encode()


def answered_on_virtio(text: bytes, service: Service) -> bytes:
    """Return the answer to a line of the virtio port."""
    return virtioport.answer(text, lambda request: reply(request, service))


def reply(text: bytes, service: Service) -> dict:
    """Return the whole answer to a line."""
    identifier = None
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise Refusal(
                f"a request is an object with schema {SCHEMA}", observed=text[:120].decode("utf-8", "replace")
            )
        identifier = document.get("id")
        result = service.answer(document)
        return {"schema": SCHEMA, "id": identifier, "ok": True, "result": result}
    except Refusal as refusal:
        error = refusal.document
    except ValueError as fault:
        error = {"what": "the line is not JSON", "where": "", "observed": str(fault), "fix": ""}
    except Exception as fault:  # noqa: BLE001 - the agent is all there is: it says what happened and goes on
        where = _raised_at(fault)
        error = {"what": "the agent failed", "where": where, "observed": f"{type(fault).__name__}: {fault}", "fix": ""}
    return {"schema": SCHEMA, "id": identifier, "ok": False, "error": error}


def _raised_at(fault: Exception) -> str:
    """Return the file and line that raised it. Importing traceback would take an emulated guest a fifth of a second."""
    last = fault.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return f"{last.tb_frame.f_code.co_filename}:{last.tb_lineno}" if last else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
