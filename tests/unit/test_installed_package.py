"""The wheel, as a user installs it who only looks at stores: without a checkout, and without any extra."""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed import __version__
from nfvbed.cli.extras import EXTRA_OF
from tests.another_user import PLACE

pytestmark = pytest.mark.xdist_group("installed_package")  # One worker makes what they share.

ROOT = Path(__file__).parents[2]
WITHOUT_EXTRAS = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {tuple(EXTRA_OF)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from nfvbed.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module", name="wheel")
def _wheel(tmp_path_factory) -> Path:
    """The folder into which an installer unpacks the wheel."""
    made, unpacked = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("site-packages")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(made)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(made.glob("*.whl"))) as archive:
        archive.extractall(unpacked)
    return unpacked


@pytest.fixture(scope="module", name="store")
def _store(tmp_path_factory) -> Path:
    """A copied store of a simulated run; neither it nor its folder can be written."""
    folder = tmp_path_factory.mktemp("copied")
    made = folder / "made.sqlite"
    run = [sys.executable, "-m", "nfvbed", "--store", str(made), "run", "simulated"]
    subprocess.run(run, cwd=ROOT, check=True, capture_output=True)
    copy = folder / "alone" / "copy.sqlite"
    copy.parent.mkdir()
    copy.write_bytes(made.read_bytes())
    copy.chmod(0o444)
    copy.parent.chmod(0o555)
    return copy


@pytest.fixture(name="elsewhere")
def _elsewhere() -> Iterator[Path]:
    """A folder that is not below a checkout: one above would be the root."""
    with tempfile.TemporaryDirectory(prefix="nfvbed-test-", dir=PLACE) as folder:
        yield Path(folder)


def _nfvbed(wheel: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run what is installed in a folder where nothing else is."""
    environment = {"PYTHONPATH": str(wheel), "PATH": "/usr/bin:/bin", "HOME": str(folder), "COLUMNS": "120"}
    argv = [sys.executable, "-c", WITHOUT_EXTRAS, *words]
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_wheel_has_every_file_of_the_package_and_the_data(wheel: Path):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    data = ("deploy/", "flavors/", "kolla/", "tosca/", "vnfd/", "vsperf-conf/")
    wanted = [wheel / name for name in listed if name.startswith("nfvbed/")]
    wanted += [wheel / "nfvbed" / "data" / name for name in listed if name.startswith(data)]
    assert [str(path.relative_to(wheel)) for path in wanted if not path.is_file()] == []


def test_the_wheel_has_the_manual_page_where_man_looks_for_it(wheel: Path):
    page = wheel / f"nfvbed-{__version__}.data" / "data" / "share" / "man" / "man1" / "nfvbed.1"
    assert page.read_text() == (ROOT / "docs" / "reference" / "nfvbed.1").read_text()


def test_viewing_verbs_need_no_extra(wheel: Path, store: Path, elsewhere: Path):
    listed = _nfvbed(wheel, elsewhere, "--store", str(store), "runs", "--all", "--json")
    run = json.loads(listed.stdout)[0]["id"]
    verbs = (
        ("compare", run),
        ("explain", run, "simulated/p2p/64"),
        ("report", run, "--output", str(elsewhere / "page")),
        ("export", run, "--output", str(elsewhere / "run.json")),
        ("bundle", run, "--output", str(elsewhere / "run.zip")),
        ("verify-bundle", str(elsewhere / "run.zip")),
        ("trend",),
        ("variants",),
        ("plan", "simulated"),
    )
    told = {verb: _nfvbed(wheel, elsewhere, "--store", str(store), verb, *words) for verb, *words in verbs}
    assert {verb: ended.stderr for verb, ended in told.items() if ended.returncode} == {}
    assert (elsewhere / "page" / "index.html").stat().st_size > 100_000
    other = str(elsewhere / "other.sqlite")
    assert _nfvbed(wheel, elsewhere, "--store", other, "import", str(elsewhere / "run.json")).returncode == 0
    # Nothing is measured here, so it is the newest run's host that is asked for; the store has no measured run.
    asked = _nfvbed(wheel, elsewhere, "--store", str(store), "recommend", "--need", "throughput")
    assert (asked.returncode, "no measured runs" in asked.stderr) == (2, True)
    assert sorted(path.name for path in elsewhere.iterdir()) == [
        "other.sqlite",
        "other.sqlite.lock",
        "page",
        "run.json",
        "run.zip",
    ]


def test_the_dashboard_is_there_without_extras(wheel: Path, elsewhere: Path):
    script = WITHOUT_EXTRAS.replace("from nfvbed.cli.main import main", "import nfvbed.dashboard.app").partition(
        "sys.exit"
    )[0]
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=elsewhere, env={"PYTHONPATH": str(wheel)}, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(("verb", "extra"), [("doctor", "lab"), ("onboard vloop", "lab"), ("devcloud status", "lab")])
def test_verbs_of_extras_say_which_one(wheel: Path, elsewhere: Path, verb: str, extra: str):
    ended = _nfvbed(wheel, elsewhere, *verb.split())
    assert ended.returncode == 12
    assert f"install nfvbed[{extra}]" in ended.stderr
