"""No answer rests on a simulated or a hidden run: every reader gives the same with and without them.

All readers are listed: the verbs of the command line, and the routes of the dashboard. One that is not fails.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from nfvbed.cli.main import VERBS, main
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit
from nfvbed.dashboard.evidence.trend import Filter
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.operations import Operations
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.report.context import ReportContext
from nfvbed.report.files import WrittenReport
from nfvbed.store import Store
from tests.dashboard_runs import SERIES
from tests.other_runs import MANY, add_hidden, add_simulated, measured
from tests.sample_records import RUN
from tests.unit.dashboard.conftest import NOW

pytestmark = pytest.mark.xdist_group("other_runs")  # One worker makes the stores.

ADDED: dict[str, Callable[[Path], None]] = {"simulated": add_simulated, "hidden": add_hidden}

CELL = "ovs-dpdk/p2p/64"
SETTING = f"{CELL}, 1 flows both ways, mrr, lab, machine 382e60d7f8de"
NEEDS = ("throughput", "latency", "jitter", "cpu", "raw-ethernet")

VERBS_THAT_READ: dict[str, tuple[tuple[str, ...], ...]] = {
    "compare": ((), ("--json",), ("--csv",), ("--details",), ("latest",)),
    "explain": (("latest", CELL), (RUN, CELL)),
    "report": (("--output", "{folder}"), ("--output", "{folder}", "--json")),
    "runs": ((), ("--json",)),
    "export": ((), (RUN,), ("--format", "vsperf-csv")),
    "recommend": tuple(("--need", need, "--host", "newest") for need in NEEDS) + (("--need", "cpu"),),
    "trend": ((), ("--json",), ("--setting", SETTING)),
    "diff": (("linux-bridge", "ovs-dpdk"), ("latest:linux-bridge", "latest:ovs-dpdk", "--json")),
}
"""What each is asked."""
OTHER_VERBS = {
    *("doctor", "variants", "plan", "devcloud", "kolla", "rack", "verify", "package", "trace"),
    *("deploy", "onboard", "scale", "heal", "steer", "offboard", "destroy"),
    "run",  # It writes; which run is resumed is below.
    *("import", "foreign"),  # They write what others have measured, and list that alone.
    *("gate", "bisect"),  # They measure, and judge that.
    *("bundle", "verify-bundle"),  # Of one run that is named, or a file.
    "dashboard",  # Its routes are below.
}
"""They read no results."""

_RUN = {"name": RUN, "cell": CELL}
ROUTES_THAT_READ: dict[str, tuple[str, ...]] = {
    "/": ("", "?baseline=linux-bridge", "?needs=1"),
    "/needs": ("",),
    "/runs": ("", "?find=demo", "?order=experiment"),
    "/runs/{name}": ("", "latest"),
    "/runs/{name}/why": (f"?cell={CELL}",),
    "/runs/{name}/doctor": ("", "latest"),
    "/compare": ("", "?by=variant", f"?runs={RUN}"),
    "/compare/rows.csv": ("",),
    "/compare/tests.csv": ("",),
    "/diff": ("", f"?after={RUN}", f"?before={RUN}:linux-bridge&after={RUN}:ovs-dpdk"),
    "/trend": ("", f"?{urlencode({'setting': SETTING})}"),
    "/trend/rows.csv": (f"?{urlencode({'setting': SETTING})}",),
    "/published": ("",),
    "/published/rows.csv": ("",),
    "/recommend": ("", *(f"?need={need}" for need in NEEDS)),
    "/start": ("",),
    "/api/overview": ("",),
    "/api/runs": ("",),
    "/api/runs/{name}": ("", "latest"),
    "/api/runs/{name}/annotations": ("", "latest"),
    "/api/runs/{name}/trials": ("", "latest"),
    "/api/runs/{name}/why": (f"?cell={CELL}",),
    "/api/runs/{name}/doctor": ("", "latest"),
    "/api/compare": ("", f"?runs={RUN}"),
    "/api/diff": (f"?before={RUN}:linux-bridge&after={RUN}:ovs-dpdk",),
    "/api/trend": ("",),
    "/api/trend/series": (f"?{urlencode({'setting': SETTING})}",),
    "/api/published": ("",),
    "/api/recommend": ("", *(f"?need={need}" for need in NEEDS)),
    "/api/start": ("",),
    "/metrics": ("",),
}
FIGURES_THAT_READ = {
    "/compare/figures": "rate",
    "/runs/{name}/figures": "rate",
    "/runs/{name}/why/figures": f"trials?cell={CELL}",
    "/trend/figures": f"trend?{urlencode({'setting': SETTING})}",
    "/published/figures": "kisti-2017-vswitches",
}
ROUTES_THAT_READ |= {
    f"{path}/{{figure}}.{form}": (asked,)
    for path, asked in FIGURES_THAT_READ.items()
    for form in ("svg", "png", "csv", "json")
}
"""What is asked of each: `latest` in place of a run's name, a figure's name, or a query."""
OTHER_ROUTES = {
    "/healthz",
    *("/api/openapi.json", "/method", "/api/method", "/api/deployments", "/audit", "/api/audit"),
    *("/static/dashboard.css", "/static/{name}.js", "/static/vega.js"),
    *("/jobs", "/jobs/{name}", "/jobs/{name}/events", "/api/jobs", "/api/jobs/{name}", "/chain", "/api/chain"),
    "/runs/{name}/events",  # Of one run that goes on, which is named.
}
"""They read no results."""


@pytest.fixture(scope="module", name="plain")
def _plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("apart") / "nfvbed.sqlite"
    measured(path)
    return path


@pytest.fixture(scope="module", name="both", params=["simulated", pytest.param("hidden", marks=pytest.mark.dashboard)])
def _both(plain: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """The store, and a copy of it with runs that are not to change an answer."""
    path = plain.with_name(f"{request.param}.sqlite")
    shutil.copy(plain, path)
    ADDED[request.param](path)
    return plain, path


def test_every_verb_is_listed():
    assert set(VERBS) == VERBS_THAT_READ.keys() | OTHER_VERBS


@pytest.mark.parametrize("verb", VERBS_THAT_READ)
def test_a_verb_says_the_same(
    both: tuple[Path, Path],
    verb: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Store.get_blob
    # Descriptions that these runs refer to and that were not stored: an export wants all of them.
    monkeypatch.setattr(
        Store,
        "get_blob",
        lambda store, digest: {} if digest.endswith("000") or "dddd" in digest else kept(store, digest),
    )
    monkeypatch.setattr("nfvbed.cli.report.write_report", write_context)
    for arguments in VERBS_THAT_READ[verb]:
        said = []
        for place, store in enumerate(both):
            folder = tmp_path / str(place)
            argv = [argument.replace("{folder}", str(folder)) for argument in arguments]
            code = main(["--store", str(store), verb, *argv])
            printed = re.sub(r"^not listed: .*\n", "", capsys.readouterr().out, flags=re.MULTILINE)
            written = [file.read_text() for file in folder.glob("*")]
            said.append((code, printed.replace(str(folder), "FOLDER"), written))
        assert said[0] == said[1], (verb, arguments)
        assert said[0][0] == 0 and said[0][1], (verb, arguments)


def write_context(context: ReportContext, folder: Path) -> WrittenReport:
    """Write what a report is made of, in place of its page and figures, which take long."""
    folder.mkdir(exist_ok=True)
    (folder / "context").write_text(repr(context))
    return WrittenReport((folder / "context", folder / "figures"), {})


def drawn(content: bytes) -> bytes:
    """Return a file without the numbers by which the library of figures names what it draws."""
    return re.sub(rb"(clip|gradient_)[0-9]+", b"", content)


def app_of(store: Store, folder: Path) -> TestClient:
    audit = Audit(folder / "state" / "audit.jsonl")
    jobs = Jobs(folder / "jobs", folder, str(store.location), audit, frozenset({0}))
    operations = Operations(open_project(None), audit, jobs)
    access = Access(hosts=("localhost",), operate=True, user_of=lambda scope: 0)
    return TestClient(make_app(store, access, lambda: NOW, operations), base_url="http://localhost")


@pytest.fixture(scope="module", name="clients")
def _clients(both: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[TestClient]]:
    stores = [Store.open(path, read_only=True, migrated=False) for path in both]
    yield [app_of(store, tmp_path_factory.mktemp("desk")) for store in stores]
    for store in stores:
        store.close()


def test_every_route_is_listed(clients: list[TestClient]):
    found = iter_route_contexts(clients[0].app._app.routes)
    read = {route.path for route in found if "GET" in (route.methods or ())}
    assert read == ROUTES_THAT_READ.keys() | OTHER_ROUTES


def address(route: str, asked: str) -> str:
    if "{figure}" in route:
        name, _, query = asked.partition("?")
        return route.replace("{figure}", name).replace("{name}", RUN) + (f"?{query}" if query else "")
    if "{name}" in route:
        return route.replace("{name}", asked if asked == "latest" else RUN) + (asked if asked != "latest" else "")
    return route + asked


@pytest.mark.parametrize("route", ROUTES_THAT_READ)
def test_a_route_answers_the_same(clients: list[TestClient], route: str):
    for asked in ROUTES_THAT_READ[route]:
        where = address(route, asked)
        plain, other = (_answer(client, where) for client in clients)
        assert plain == other, where
        assert plain[0] == 200, where


def _answer(client: TestClient, where: str) -> tuple[int, object]:
    """Return status and content, without how many runs are left out, which is no answer."""
    answer = client.get(where)
    if "json" in answer.headers["content-type"]:
        document = answer.json()
        document.pop("left_out", None)
        return answer.status_code, document
    if where.startswith("/metrics"):  # What the server itself takes, and when it looked, are no answers either.
        lines = answer.text.splitlines()
        return answer.status_code, [one for one in lines if "nfvbed_process_" not in one and "store_read_" not in one]
    if "html" not in answer.headers["content-type"]:
        return answer.status_code, drawn(answer.content)
    text = re.sub(r'<p class="left-out.*?</p>', "", answer.text, flags=re.DOTALL)
    return answer.status_code, re.sub(r'name="csrf" value="[0-9a-f]+"', "", text)


def test_they_are_there_where_they_are_asked_for(both: tuple[Path, Path], clients: list[TestClient], capsys):
    """Else all of this would hold of a store into which they were never written."""
    plain, other = ({entry["run"]["id"] for entry in runs(client)} for client in clients)
    assert len(other) > len(plain) + MANY
    listed = []
    for store in both:
        assert main(["--store", str(store), "runs", "--all", "--json"]) == 0
        listed.append({entry["id"] for entry in json.loads(capsys.readouterr().out)})
    assert listed == [plain, other]
    left = clients[1].get("/api/runs").json()["left_out"]
    assert sum(left.values()) == len(other) - len(plain)


def runs(client: TestClient) -> Iterator[dict[str, object]]:
    first = client.get("/api/runs?all=1").json()
    for page in range(first["pages"]["last"]):
        yield from client.get(f"/api/runs?all=1&page={page + 1}").json()["runs"]


def test_a_run_that_is_named_is_shown_whatever_it_is(clients: list[TestClient]):
    other = "01980000-0000-7000-8000-000000000001"
    assert clients[1].get(f"/runs/{other}").status_code == 200
    assert clients[1].get(f"/api/compare?runs={other}").json()["comparison"]["runs"] == [other]


def test_trends_of_simulated_runs_are_a_list_of_their_own(clients: list[TestClient]):
    assert Filter.model_fields["simulated"].default is False
    asked = clients[1].get("/api/trend?simulated=1").json()["settings"]
    assert all(line["setting"]["simulated"] for line in asked)
    own = clients[1].get("/api/trend").json()["settings"]
    assert own and not any(line["setting"]["simulated"] for line in own)
    assert {line["newest_run"] for line in own} & set(SERIES) or own


def test_what_is_resumed_is_measured_before_it_is_simulated(both: tuple[Path, Path]):
    from nfvbed.cli.run import UNFINISHED, _resumable

    for path in both:
        with Store.open(path, read_only=True) as store:
            assert _resumable(store, UNFINISHED, None).id == _resumable(store, UNFINISHED, "demo").id
            assert _resumable(store, UNFINISHED, None).status == "failed"
