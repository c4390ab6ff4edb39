"""Eight functions of the mobile core, each configured by its own user data, find each other: a UE attaches and pings.

It is the code and the user data of the image's guests, in namespaces; guests themselves: `tests/image`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.functional.lab_host import ROOT

pytestmark = pytest.mark.vepc

UNSHARED = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private")
AGENT = ("images/vloop/root/usr/lib/vloop", "images/vepc/root/usr/lib/vepc")


@pytest.mark.timeout(300)
def test_eight_functions_find_each_other_by_their_user_data(tmp_path):
    names = 'mount -t tmpfs none /run/netns && exec "$@"'
    argv = [*UNSHARED, "sh", "-c", names, "sh", sys.executable, "-m", "tests.functional.epc_roles", str(tmp_path)]
    paths = os.pathsep.join(str(ROOT / one) for one in (".", *AGENT))
    Path("/run/netns").mkdir(exist_ok=True)
    done = subprocess.run(
        argv, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = {name: [one for one in lines if one.startswith("vepc: ")] for name, lines in json.loads(done.stdout).items()}
    for name in ("hss", "pcrf", "sgw", "pgw", "mme"):
        held = "store hss" if name == "hss" else name
        assert said[name][0].startswith(f"vepc: functions up: {held} after "), said
    of_ue = [line.split()[1] for line in said["ue-enb"]]
    assert of_ue[:4] == ["functions", "S1", "attached:", "ping"], said["ue-enb"]
    assert any(line.startswith("vepc: ping carried: 10 of 10,") for line in said["ue-enb"])
    assert any(line.startswith("vepc: tcp carried: 131072 of 131072 bytes and back in ") for line in said["ue-enb"])
    assert of_ue.count("bearer:") == 4
    assert said["ue-enb"][-1] == "vepc: bearers: 4 from 10.77.2.20 to 10.77.2.11"
