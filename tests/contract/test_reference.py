"""What can be typed, set or read is documented, and what is documented exists; the tier lint holds generated pages."""

import configparser
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import yaml

from tests.contract.source import ROOT, assert_none, text, tracked

REFERENCE = Path("docs/reference")
ENVIRONMENT = REFERENCE / "environment.md"
VARIABLE = re.compile(r"\b(NFVBED_[A-Z_]+[A-Z]|VPP_BIN|VSPERF_(?:DIR|PYTHON))\b")
TIERS = ("lint", "unit", "golden", "contract", "image", "functional", "browser")
MAKEFILE = text(Path("Makefile"))


def _variables_in_use():
    folders = ("nfvbed", "native", "setup", "bench", "tests", ".ci")
    paths = [path for path in tracked() if path.parts[0] in folders or path.name in ("Makefile", "tox.ini")]
    # In C sources the same prefix is used for constants; there a variable is what getenv reads.
    found = set()
    for path in paths:
        if path.suffix in (".c", ".h", ".build"):
            found |= set(re.findall(r'getenv\("(NFVBED_\w+)"\)', text(path)))
        else:
            found |= set(VARIABLE.findall(text(path)))
    return found


def _documents():
    """Yield (place, text) of every key in the tables of keys."""
    for path in [*(path for path in tracked() if path.is_relative_to(REFERENCE / "files")), REFERENCE / "search.md"]:
        for line in text(path).partition("| key | default | limits | meaning |")[2].splitlines():
            cells = line.strip().removeprefix("| ").removesuffix(" |").split(" | ")
            if line.startswith("| `") and len(cells) == 4:
                yield f"{path}: {cells[0]}", cells[3]


def test_every_key_has_a_document_that_begins_with_a_noun():
    other = re.compile(r"(?:How|Whether|What|Which|Where|When|Why|Is|Are|It|Its|Of|The|None|At)\b|$")
    assert_none(place for place, document in _documents() if other.match(document.strip()))
    assert len(list(_documents())) > 200


def test_readme_names_every_variant():
    """An ending as `-vxlan` stands for the full name before it with its own ending changed, or with one more."""
    rows = re.findall(r"^\| (`[^|]+) \|", text(Path("README.md")), re.MULTILINE)
    named = set()
    for row in rows:
        full = ""
        for name in re.findall(r"`([a-z0-9-]+)`", row):
            if name.startswith("-"):
                named |= {full + name, full.rpartition("-")[0] + name}
            else:
                named.add(full := name)
    variants = {path.stem for path in tracked() if path.parent == Path("deploy/variants")}
    assert_none(variants - named - {"existing", "simulated"})


def _settings_of_horizon():
    """Return what the panel reads of Horizon's settings: no variable of an environment."""
    paths = (path for path in tracked() if path.parts[0] == "horizon-plugin" and path.suffix == ".py")
    return {name for path in paths for name in VARIABLE.findall(text(path))}


def _documented(page):
    return set(re.findall(r"^\| `(\w+)`", text(page), re.MULTILINE))


def test_environment_variables_are_documented_and_exist():
    assert _documented(ENVIRONMENT) == _variables_in_use() - _settings_of_horizon()


def test_settings_of_horizon_are_documented_and_exist():
    assert _documented(Path("docs/howto/dashboard.md")) == _settings_of_horizon()


def test_every_warning_has_advice():
    from nfvbed.compare.advice.advice import ADVICE
    from nfvbed.records import QualityWarning

    assert set(ADVICE) == set(QualityWarning)


def test_exit_codes_are_those_of_the_contract():
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", text(REFERENCE / "exit-codes.md"), re.MULTILINE)]
    assert list(dict.fromkeys(codes)) == [0, 1, 2, 10, 11, 12, 13, 20, 21, 22, 23, 24, 30, 31, 40, 41, 42, 43, 130]


def test_variants_are_documented():
    page = text(REFERENCE / "files" / "variants.md")
    names = [path.stem for path in tracked() if path.parts[:2] == ("deploy", "variants")]
    assert names
    assert_none(name for name in names if f"| `{name}` |" not in page)


def test_options_of_every_data_plane_are_documented():
    pages = [text(path) for path in tracked() if path.is_relative_to(REFERENCE / "files" / "variants")]
    declared = [
        name
        for path in tracked()
        if path.parts[0] == "nfvbed" and path.name == "options.py"
        for name in re.findall(r"^    dataplane: Literal\[\"([a-z-]+)\"\]", text(path), re.MULTILINE)
    ]
    tables = sum(page.count("| `dataplane` | required |") for page in pages)
    assert declared
    assert tables == len(declared)


def test_every_target_has_a_line_of_help():
    phony = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    listed = re.findall(r"^([a-z$][^:\s]*):.*## ", MAKEFILE, re.MULTILINE)
    internal = {"setup-test", "bench-price-of-switch"}  # the latter only names its successor
    assert set(phony) - internal == set(listed)


def test_help_fills_names_in_only_where_a_line_is_for_many_targets():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = {line.split()[0]: line for line in shown.splitlines()[2:]}
    assert "SITE=NAME" in lines["doctor"] and "INVENTORY=FILE" in lines["deploy-xdp"]
    assert "set up xdp and leave" in lines["deploy-xdp"]


def test_tiers_of_make_and_tox_are_the_same():
    named = re.findall(r"^(?:CHECKS|TIERS) := (.*)$", MAKEFILE, re.MULTILINE)
    assert sorted(" ".join(named).split()) == sorted(TIERS)
    tox = configparser.ConfigParser()
    tox.read_string(text(Path("tox.ini")))
    for tier in TIERS:
        assert tox[f"testenv:{tier}"]["commands"] == f"python tests/tiers.py {tier}"
    assert set(tox["tox"]["env_list"].replace(" ", "").split(",")) == {*TIERS, "docs"}
    assert "$(PYTHON) tests/tiers.py $(TIERS)" in MAKEFILE
    assert "$(PYTHON) tests/tiers.py $(CHECKS)" in MAKEFILE
    assert "$(PYTHON) tests/tiers.py $*" in MAKEFILE


PAGES = [path for path in tracked() if path.suffix == ".md"]


@cache
def _anchors(page):
    """Return the anchors of a page's headings, as code hosts write them."""
    prose = re.sub(r"^```.*?^```", "", text(page), flags=re.MULTILINE | re.DOTALL)
    headings = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)]
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def _leads_nowhere(page, target, anchor):
    path = (ROOT / page.parent / target).resolve() if target else ROOT / page
    return not path.exists() or (anchor and anchor not in _anchors(path.relative_to(ROOT)))


def test_links_lead_somewhere():
    assert_none(
        f"{page}: {target}#{anchor}"
        for page in PAGES
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", text(page))
        if "://" not in target and _leads_nowhere(page, target, anchor)
    )


def test_the_index_leads_to_every_page():
    index = Path("docs/index.md")
    linked = {(ROOT / index.parent / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)", text(index))}
    folders = ("docs", "docs/howto", "docs/reference")
    pages = [page for page in PAGES if str(page.parent) in folders and page != index]
    assert_none(str(page) for page in pages if ROOT / page not in linked)


def test_named_targets_exist():
    known = {"setup-test", *re.findall(r"^\| `([\w-]+)` \|", text(REFERENCE / "make.md"), re.MULTILINE)}
    named = ((page, target) for page in PAGES for target in re.findall(r"`make ([a-z][\w-]*)", text(page)))
    assert_none(f"{page}: {target}" for page, target in named if target not in known)


def test_support_manifest_covers_every_variant():
    manifest = yaml.safe_load(text(Path("tests/support.yml")))
    names = {path.stem for path in tracked() if path.parts[:2] == ("deploy", "variants")}
    assert set(manifest["variants"]) == names


def test_every_debian_package_and_library_is_explained():
    page = text(Path("docs/dependencies.md"))
    lines = [line.partition("#")[0].strip() for line in text(Path("setup/packages-debian.txt")).splitlines()]
    names = [line.split()[0] for line in lines if line and not line.startswith("[")]
    project = tomllib.loads(text(Path("pyproject.toml")))
    wanted = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    wanted += project["dependency-groups"].values()
    names += [re.split(r"[<\[]", name)[0] for some in wanted for name in some if not name.startswith("nfvbed[")]
    assert_none(name for name in names if f"`{name}`" not in page)
