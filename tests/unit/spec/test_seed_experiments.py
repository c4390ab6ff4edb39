"""Experiments after published ones: every file loads and is planned, in its own form and in its quick one."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.plan.plan import expand
from nfvbed.spec.loader import SEEDS

ROOT = Path(__file__).parents[3]
PROJECT = open_project(ROOT)
NAMES = sorted(path.stem for path in (PROJECT.experiments_folder / SEEDS).glob("*.yml"))
ASKED = {
    "kisti": ("vswitch", "sfc"),
    "ocata": ("p2p", "pvp", "pvvp", "sockets", "cpu", "multiqueue", "numa", "tlb", "vepc"),
    "snu": ("balancer",),
    "sigcomm": ("forwarding", "overlay", "rr", "xdp", "queues", "offloads"),
    "nitech": ("physical", "backends", "inside", "scaling"),
}


def test_every_published_experiment_has_a_file():
    assert (
        {f"seed-{paper}-{name}" for paper, names in ASKED.items() for name in names}
        <= set(NAMES)
        <= set(PROJECT.experiment_names)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_planned_in_both_forms(name: str):
    whole, quick = (PROJECT.load_study(name, {} if form is None else {"quick": True}) for form in (None, True))
    plans = [expand(study.experiment, study.variants, study.choices) for study in (whole, quick)]
    assert plans[0].cells and plans[1].cells
    assert whole.experiment.name == name and not whole.experiment.quick and quick.experiment.quick
    assert quick.experiment.repetitions.time_limit_s <= 900, "a quick form takes minutes"
    assert len(plans[1].cells) <= len(plans[0].cells)


def test_an_option_wins_over_the_quick_form():
    found = PROJECT.load_study("seed-kisti-vswitch", {"quick": True, "repetitions.needed": 3}).experiment
    assert (found.repetitions.needed, found.repetitions.time_limit_s) == (3, 600)


@pytest.mark.parametrize("form", ["{name: other}", "{quick: true}", "{nothing.at.all: 1}", "[1]", "{1: 2}"])
def test_a_quick_form_that_is_none_is_refused(form: str, tmp_path: Path):
    text = (PROJECT.experiment_file("seed-kisti-vswitch")).read_text().partition("quick_form:")[0]
    path = tmp_path / "mine.yml"
    path.write_text(text.replace("seed-kisti-vswitch", "mine") + f"quick_form: {form}\n")
    with pytest.raises(ConfigurationError, match="quick_form"):
        PROJECT.load_study(path)


def test_an_unknown_seed_is_told_with_the_nearest():
    with pytest.raises(ConfigurationError) as caught:
        PROJECT.load_study("seed-kisti-vswich")
    assert "seed-kisti-vswitch" in caught.value.fix
