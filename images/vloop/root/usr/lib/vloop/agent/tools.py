"""Programs of socket traffic that the host runs here: started, waited for, ended, and what they wrote handed over."""

import binascii
import os
import select
import subprocess
import zlib

from agent import request as requests
from agent.refusal import Refusal

PROGRAMS = ("iperf3", "netperf", "netserver", "sockperf")
FOLDER = "/run/tools"
"""Where they run and write: in memory, like everything that a guest writes."""
PART_BYTES = 512 * 1024
"""Bytes of a file in one answer, before they are compressed."""


class Tools:
    """Those that were started, by their process's number."""

    def __init__(self, folder: str = FOLDER, programs: tuple[str, ...] = PROGRAMS) -> None:
        self._folder = folder
        self._programs = programs
        self._started: dict[int, subprocess.Popen] = {}

    def start(self, document: dict) -> dict:
        """Start one; it runs on while other requests are answered."""
        found = requests.keys(document, {"program": str, "arguments": list})
        program, arguments = found.get("program", ""), [str(word) for word in found.get("arguments", [])]
        if program not in self._programs:
            raise Refusal("there is no such tool", observed=repr(program), fix=f"one of {', '.join(self._programs)}")
        os.makedirs(self._folder, exist_ok=True)
        log = f"{len(self._started) + 1}.log"
        with open(f"{self._folder}/{log}", "wb") as file:
            process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
            )
        self._started[process.pid] = process
        return {"process": process.pid, "log": log}

    def wait(self, document: dict) -> dict:
        """Return how one ended; None where it still runs after the time. Nothing in the guest wakes up meanwhile."""
        found = requests.keys(document, {"process": int, "timeout_ms": int})
        process = self._known(found)
        if process.poll() is None:
            handle = os.pidfd_open(process.pid)
            try:
                select.select([handle], [], [], found.get("timeout_ms", 0) / 1000)
            finally:
                os.close(handle)
        return {"status": process.poll()}

    def end(self, document: dict) -> dict:
        """End one for certain, and return how it ended."""
        process = self._known(requests.keys(document, {"process": int}))
        if process.poll() is None:
            process.kill()
        return {"status": process.wait()}

    def read(self, document: dict) -> dict:
        """Return a part of a file that one of them wrote: compressed (zlib), as Base64; `bytes` is the whole's size."""
        found = requests.keys(document, {"name": str, "offset": int})
        path = self._path(found.get("name", ""))
        try:
            with open(path, "rb") as file:
                file.seek(found.get("offset", 0))
                part = file.read(PART_BYTES)
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise Refusal("there is no such file", where=path, observed=error.strerror or "") from error
        return {"part": binascii.b2a_base64(zlib.compress(part), newline=False).decode(), "bytes": size}

    def remove(self, document: dict) -> dict:
        """Remove a file; one that is not there is gone already."""
        path = self._path(requests.keys(document, {"name": str}).get("name", ""))
        if os.path.exists(path):
            os.unlink(path)
        return {}

    def stop(self) -> None:
        """End all."""
        for process in self._started.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self._started.clear()

    def _known(self, found: dict) -> subprocess.Popen:
        process = self._started.get(found.get("process", 0))
        if process is None:
            raise Refusal("no such tool was started", observed=str(found.get("process")))
        return process

    def _path(self, name: str) -> str:
        if not name or "/" in name or name.startswith("."):
            raise Refusal("a tool's file has a plain name", observed=repr(name))
        return f"{self._folder}/{name}"
