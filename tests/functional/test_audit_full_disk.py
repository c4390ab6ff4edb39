"""The audit log on a file system that becomes full: what cannot be logged is not done, and nothing is lost or hidden.

The file system is a small tmpfs in a mount namespace of the test's own process.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.functional.lab_host import ROOT

SIZE = 64 * 1024
PROGRAM = """
import json, os, sys
from pathlib import Path
from nfvbed.dashboard.audit import Audit, AuditSubject, Kind, Outcome
from nfvbed.errors import StoreError

folder, done, refused = Path(sys.argv[1]), [], []
audit = Audit(folder / "audit.jsonl")
me = AuditSubject(role="operator", user="root")

def act(name):
    try:
        with audit.action(me, name, "y" * 700):
            done.append(name)
    except StoreError as error:
        refused.append(name)

(folder / "other").write_bytes(b"x" * 8192)
for number in range(200):
    act(f"act {number}")
full = audit.path.read_bytes()
audit.refuse(me, "GET /", "no")
for number in range(20):
    act(f"late {number}")
same = audit.path.read_bytes() == full
(folder / "other").unlink()
act("after")
shown = {entry.action: entry.outcome for entry in audit.newest(1000)}
print(json.dumps({"done": done, "refused": refused, "shown": shown, "same": same,
                  "whole": all(json.loads(line) for line in audit.path.read_bytes().splitlines())}))
"""


def test_what_cannot_be_logged_is_not_done_and_hides_nothing(tmp_path: Path):
    mounted = f'mount -t tmpfs -o size={SIZE},mode=700 none "$1" && exec "$2" -c "$3" "$1"'
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounted, "sh", str(tmp_path), sys.executable]
    found = subprocess.run([*argv, PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    said = json.loads(found.stdout)
    assert said["whole"] and said["same"], "a line is there as a whole or not at all"
    assert said["done"][-1] == "after" and len(said["refused"]) > 20 and "late 19" in said["refused"]
    assert not set(said["done"]) & set(said["refused"])
    assert set(said["shown"]) == set(said["done"]), "what was done is shown, and what was refused was not begun"
    outcomes = [said["shown"][name] for name in said["done"]]
    assert outcomes.count("asked") <= 1 and set(outcomes) <= {"asked", "done"}
    assert "cannot be written" in found.stderr, "the server says which end could not be logged"
    assert not any(tmp_path.iterdir()), "the file system was the test's own"
