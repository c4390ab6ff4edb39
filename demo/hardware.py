"""A row of docs/evidence/hardware.md: `make hardware`.

The experiment `hardware` is measured on this host's cabled NICs, its run is bundled, redacted, and the bundle's rows
are printed. Where none of its variants can be measured here it is said what is missing, each thing once, and nothing is
begun: no store is opened, and no run is stored.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from nfvbed.cli.entering import find_site
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError, UnsupportedError
from nfvbed.host.nics.inventory import network_addresses
from nfvbed.records import Readiness, Support

ROOT: Final = Path(__file__).parents[1]
EXPERIMENT: Final = "hardware"
BUNDLE: Final = "nfvbed-hardware.zip"

Run = Callable[[Sequence[str]], int]
"""Runs a command of nfvbed and returns its exit status."""


def supports(site: str, root: Path = ROOT) -> tuple[Support, ...]:
    """Return what each variant of the experiment can do on a site; nothing is deployed.

    Raises:
        NfvbedError: there is no such site, or it is no machine that can be looked at.
    """
    project = open_project(root)
    place = find_site(project.load_site(site), project.root)
    names = project.load_experiment(EXPERIMENT).variants
    return tuple(place.probe(project.load_variant(name)) for name in names)


def missing(found: Sequence[Support], ports: Sequence[str]) -> Iterator[str]:
    """Yield what is missing for a row, each thing once; nothing where a variant can be measured.

    Args:
        found: the answers of the site on all variants.
        ports: addresses of the network ports on this machine's PCI bus.
    """
    if any(support.readiness is not Readiness.UNSUPPORTED for support in found):
        return
    yield f"network ports on this machine's PCI bus: {', '.join(ports) or 'none'} (four are needed, cabled in pairs)"
    reasons: dict[tuple[str, str], list[str]] = {}
    for support in found:
        reasons.setdefault((support.reason, support.fix), []).append(support.variant)
    for (reason, fix), variants in reasons.items():
        yield f"{', '.join(variants)}: {reason}" + (f"; {fix}" if fix else "")


def measure(site: str, run: Run) -> int:
    """Measure, bundle and print the rows; the first command that fails ends it with its exit status."""
    commands = (
        ("run", EXPERIMENT, "--site", site),
        ("bundle", "latest", "--redact", "--output", BUNDLE),
        ("verify-bundle", BUNDLE, "--row"),
    )
    return next((status for command in commands if (status := run(command))), 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what can be measured here, or say what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", default="lab", help="a name in deploy/sites (default: lab)")
    site = parser.parse_args(arguments).site
    try:
        lacking = tuple(missing(supports(site), network_addresses()))
    except NfvbedError as error:
        print(f"make hardware: {error}", file=sys.stderr)
        return int(error.exit_code)
    if lacking:
        print(f"make hardware: nothing can be measured on NICs at site {site}; nothing was begun", file=sys.stderr)
        for line in lacking:
            print(f"  - {line}", file=sys.stderr)
        print("  How NICs are named: docs/howto/nics.md", file=sys.stderr)
        return int(UnsupportedError.exit_code)
    return measure(site, _nfvbed)


def _nfvbed(command: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "nfvbed", *command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
