"""Trees of /proc and /sys, file by file: what the probes read on hosts that are not this one.

Each says whether it was recorded on such a host or synthesised after the documentation.
"""

from pathlib import Path

import pytest
import yaml

from nfvbed.host.probes.host import Host

TREES = Path(__file__).parent / "trees"


@pytest.fixture(name="tree_of")
def _tree_of(tmp_path):
    """Build a tree: each file of `trees/` maps paths to texts, or to `{link: target}`."""

    def build(name):
        content = yaml.safe_load((TREES / f"{name}.yml").read_text())
        for path, text in content.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(text, dict):
                place.symlink_to(text["link"])
            else:
                place.write_text(text)
        return Host(tmp_path / name)

    return build
