"""What kolla-ansible takes for Ocata, whose playbooks are not run, and for OVN."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla.render import order_of, render
from tests.golden.kept import check

FOLDER = Path(__file__).parent / "kolla"
PROJECT = open_project()
LEFT_OUT = ("compute2", "nfvbed/guests.yml", "inventory/hosts")
"""What is the same for every variant, or as for the first compute."""


@pytest.mark.parametrize(
    ("name", "variant"),
    [("ocata", "linux-bridge"), ("ocata", "ovs-kernel"), ("ocata", "sriov"), ("2026.1", "ovn-kernel")],
)
def test_files_are_rendered_as_reviewed(name, variant):
    release = PROJECT.load_kolla_release(name)
    files = render(order_of(PROJECT.load_variant(variant), PROJECT.load_site("rack"), release), ()).files
    kept = {path: text for path, text in files.items() if not any(word in path for word in LEFT_OUT)}
    text = "\n".join(f"===== {path}\n{content}" for path, content in sorted(kept.items()))
    check(FOLDER / f"{name}-{variant}.txt", text)
