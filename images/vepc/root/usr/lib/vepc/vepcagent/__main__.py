"""`python -m vepcagent`: reads the user data, starts what it names, and stays."""

import json
import sys
import time
from pathlib import Path

from agent import configdrive
from agent.refusal import Refusal

from nfvbed.errors import NfvbedError
from vepcagent import core, edge
from vepcagent.console import say, uptime_s
from vepcagent.given import Given, read

_LONG_S = 3600.0


def main() -> int:
    """Start what the user data says; what fails is the last line on the console, and the guest stays for who looks."""
    version = json.loads(Path("/etc/vepc.json").read_text())["version"]
    say(f"booted {version} after {uptime_s():.1f} s")
    try:
        _start(read(configdrive.user_data()))
    except Refusal as refusal:
        document = refusal.document
        say(f"failed: {': '.join(filter(None, (document[key] for key in ('what', 'where', 'observed'))))}")
    except NfvbedError as failure:
        say(f"failed: {': '.join(filter(None, (failure.what, failure.where, failure.observed)))}")
    except OSError as failure:
        say(f"failed: the kernel refuses: {failure}")
    while True:
        time.sleep(_LONG_S)


def _start(given: Given) -> None:
    held = set(given.functions)
    if held and held <= core.FUNCTIONS:
        core.Core(given).run()
    elif held and held <= edge.FUNCTIONS:
        edge.start(given)
    else:
        sides = " or ".join(",".join(sorted(one)) for one in (core.FUNCTIONS, edge.FUNCTIONS))
        observed = ",".join(given.functions) or "none"
        raise Refusal(f"this image runs some of {sides}", where="vnf.functions", observed=observed)


if __name__ == "__main__":
    sys.exit(main())
