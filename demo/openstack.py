"""The OpenStack demonstration: `make demo-openstack`.

For each of two data planes: its compute is deployed, the VNF vloop is onboarded through Tacker's SOL API, traced, and
taken away again; then both are measured and compared through VNFs of Tacker's legacy API; the cloud is taken down.
Every step is a command that its user can type; its length is printed, and the memory that all of it took at most.
"""

import subprocess
import sys
import threading
import time
from pathlib import Path

from nfvbed.host.memory.meminfo import available_kib

ROOT = Path(__file__).resolve().parents[1]
SITE, SITE_SOL = "devcloud", "devcloud-sol"
VARIANTS = ("ovs-dpdk", "linux-bridge")
PICTURE = ROOT / "results" / "horizon.png"


class Memory:
    """Watches how much less memory is available than at the beginning, while it is entered."""

    def __init__(self) -> None:
        self._before = self._least = available_kib()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Memory":
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watch.join()

    @property
    def peak_mib(self) -> int:
        """The most that was taken, hugepages included."""
        return (self._before - self._least) // 1024

    def _look(self) -> None:
        while not self._ended.wait(1.0):
            self._least = min(self._least, available_kib())


def step(*words: str) -> None:
    """Run one command of nfvbed as its user would; end with its exit status where it fails."""
    print(f"\n$ nfvbed {' '.join(words)}", flush=True)
    began = time.monotonic()
    status = subprocess.run([sys.executable, "-m", "nfvbed", *words], cwd=ROOT, check=False).returncode
    print(f"  ({time.monotonic() - began:.0f} s)", flush=True)
    if status != 0:
        raise SystemExit(status)


def picture() -> None:
    """Take a picture of Horizon with the stack; said where there is no browser."""
    argv = [sys.executable, str(ROOT / "demo" / "horizon.py"), str(PICTURE)]
    print("\nHorizon, as its user sees it:", flush=True)
    subprocess.run(argv, cwd=ROOT, check=False)


def main() -> None:
    """Run all steps; the cloud is taken down whatever happens."""
    began = time.monotonic()
    with Memory() as memory:
        try:
            for variant in VARIANTS:
                step("deploy", variant, "--site", SITE)
                step("onboard", "vloop", "--variant", variant, "--site", SITE_SOL, "--flavor", "hugepages")
                step("trace", variant, "--site", SITE_SOL)
                if variant == VARIANTS[0]:
                    picture()
                step("offboard", "--site", SITE_SOL)
            step("run", "openstack")
            step("report", "--quiet")
            step("compare")
        finally:
            print("\n$ nfvbed destroy --site devcloud", flush=True)
            subprocess.run([sys.executable, "-m", "nfvbed", "destroy", "--site", SITE], cwd=ROOT, check=False)
    print(f"\ndemo-openstack: {time.monotonic() - began:.0f} s, at most {memory.peak_mib} MiB of memory and hugepages")


if __name__ == "__main__":
    main()
