"""ansible-lint with the profile `production`, and yamllint, over all of deploy/: nothing is skipped."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.kolla.genconfig import ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
ROLES = sorted(path.name for path in (DEPLOY / "roles").iterdir())
ACTIONS = ("defaults/main.yml", "meta/main.yml", "meta/argument_specs.yml", "tasks/main.yml")
WITHOUT_TASKS = {"nfvbed_handlers", "nfvbed_ovs"}
"""Handlers or a module alone: nothing to check before, and nothing to take back."""


def lint(*argv: str, folder: Path, deploy: Path = DEPLOY) -> str:
    """Run a linter of the environment over a folder, and return what it finds."""
    done = subprocess.run(
        [str(ENVIRONMENT / "bin" / argv[0]), *argv[1:]],
        cwd=deploy,
        env={
            "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "ANSIBLE_HOME": str(folder / "ansible"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
        check=False,
    )
    return done.stdout if done.returncode else ""


def test_ansible_lint_has_nothing_to_say(tmp_path):
    assert lint("ansible-lint", "--offline", "--strict", "-q", "playbooks", "roles", folder=tmp_path) == ""


def test_yamllint_has_nothing_to_say(tmp_path):
    assert lint("yamllint", "--strict", ".", folder=tmp_path) == ""


def test_ansible_lint_finds_what_is_wrong(tmp_path):
    copy = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copy)
    (copy / "playbooks" / "wrong.yml").write_text("- hosts: all\n  tasks:\n    - shell: ls\n")
    found = lint("ansible-lint", "--offline", "playbooks/wrong.yml", folder=tmp_path, deploy=copy)
    assert "fqcn" in found and "name[" in found


def test_no_rule_is_skipped():
    settings = yaml.safe_load((DEPLOY / ".ansible-lint").read_text())
    assert settings["profile"] == "production"
    assert (settings["skip_list"], settings["warn_list"]) == ([], [])
    files = [path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix in (".yml", ".j2", "")]
    assert [path for path in files if "noqa" in path.read_text() or "yamllint disable" in path.read_text()] == []


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_the_same_files(role):
    wanted = ACTIONS if role in WITHOUT_TASKS else (*ACTIONS, "tasks/precheck.yml", "tasks/undo.yml")
    assert [name for name in wanted if not (DEPLOY / "roles" / role / name).is_file()] == []


@pytest.mark.parametrize("role", ROLES)
def test_every_default_is_described(role):
    place = DEPLOY / "roles" / role
    defaults = yaml.safe_load((place / "defaults/main.yml").read_text())
    specs = yaml.safe_load((place / "meta/argument_specs.yml").read_text())["argument_specs"]
    assert set(specs["main"]["options"]) >= set(defaults)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_in_the_reference(role):
    assert f"`{role}`" in (ROOT / "docs" / "reference" / "kolla.md").read_text()
