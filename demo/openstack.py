"""The OpenStack demonstration: `make demo-openstack`.

For each of two data planes: its compute is deployed, the VNF vloop is onboarded through Tacker's SOL API, traced, and
taken away again; then both are measured and compared through VNFs of Tacker's legacy API; the cloud is taken down.
Every step is a command that its user can type; its length is printed, and the memory that all of it took at most.
"""

import subprocess
import sys
import time

import steps

SITE, SITE_SOL = "devcloud", "devcloud-sol"
VARIANTS = ("ovs-dpdk", "linux-bridge")
PICTURE = steps.ROOT / "results" / "horizon.png"


def step(*words: str) -> None:
    """Run one command of nfvbed as its user would; end with its exit status where it fails."""
    status, _ = steps.run(words)
    if status != 0:
        raise SystemExit(status)


def picture() -> None:
    """Take a picture of Horizon with the stack; said where there is no browser."""
    argv = [sys.executable, str(steps.ROOT / "demo" / "horizon.py"), str(PICTURE)]
    print("\nHorizon, as its user sees it:", flush=True)
    subprocess.run(argv, cwd=steps.ROOT, check=False)


def main() -> None:
    """Run all steps; the cloud is taken down whatever happens."""
    began = time.monotonic()
    with steps.Resources() as taken:
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
            if status := steps.compare():
                raise SystemExit(status)
        finally:
            steps.run(("destroy", "--site", SITE))
    print(f"\ndemo-openstack: {time.monotonic() - began:.0f} s, at most {taken.memory_mib} MiB of memory and hugepages")


if __name__ == "__main__":
    main()
