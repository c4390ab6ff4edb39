"""A command line has no secrets: all users of a machine can read it."""

from pathlib import Path

import pytest

from nfvbed.cli.descriptor_options import descriptor_of
from nfvbed.cli.main import main
from nfvbed.cli.vsperf_options import read_options
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError

SECRET = "gr8-secret"
WITH = (
    f"postgresql://user:{SECRET}@host/database",
    f"postgresql+psycopg://user:{SECRET}@host:5432/database",
    f"postgresql://user:{SECRET}/x@host/database",
    f"postgresql://host/database?user=u&password={SECRET}",
    f"postgresql://host/database?sslpassword={SECRET}",
    f"mysql://user:{SECRET}@host/database",
)
WITHOUT = (
    "postgresql://user@host/database",
    "postgresql://user@host:5432/database?sslmode=verify-full",
    "postgresql://host:5432/database?application_name=a@b",
    "postgresql:///database?service=nfvbed",
    "results/x:y@z.sqlite",
)
OPTIONS = {"called": None, "networks": (), "names": (), "flavour": None, "level": None, "trusted": ()}


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    # Else they would be asked for, by name.
    monkeypatch.setattr("nfvbed.store.connect._connect_server", lambda *_: (_ for _ in ()).throw(UsageError("asked")))
    monkeypatch.delenv("NFVBED_STORE", raising=False)


@pytest.mark.parametrize("url", WITH)
@pytest.mark.parametrize("before", [True, False], ids=["before the verb", "after it"])
def test_a_password_in_a_store_is_refused_and_not_repeated(
    url: str, before: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--store", url, "runs"] if before else ["runs", "--store", url]) == 2
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err
    assert all(word in said.err for word in ("a password", ".pgpass", "PGPASSFILE", "service", "NFVBED_STORE"))


@pytest.mark.parametrize("url", WITHOUT)
def test_others_are_taken(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--store", url]) in (2, 30)
    assert "a password" not in capsys.readouterr().err


def test_a_password_in_the_environment_is_taken_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NFVBED_STORE", WITH[0])
    assert main(["runs"]) == 2
    said = capsys.readouterr().err
    assert "asked" in said and SECRET not in said


@pytest.mark.parametrize("name", ["password", "admin_passwd", "API-Token", "private_key", "client_secret"])
def test_a_secret_input_of_a_template_is_in_a_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="secret") as caught:
        descriptor_of("vnf.yaml", {**OPTIONS, "parameters": (f"{name}={SECRET}",)})
    assert SECRET not in str(caught.value) and f"{name}=@FILE" in caught.value.fix
    (tmp_path / "file").write_text(f"{SECRET}\n")
    given = descriptor_of("vnf.yaml", {**OPTIONS, "parameters": (f"{name}=@{tmp_path / 'file'}", "image=cirros")})
    assert given.parameters == {name: SECRET, "image": "cirros"}


def test_a_secret_setting_of_vsperf_is_in_a_file() -> None:
    options = {"conf": (), "test_params": f"TRAFFICGEN_XENA_PASSWORD='{SECRET}'; TRAFFICGEN_DURATION=1"}
    with pytest.raises(UsageError, match="secret") as caught:
        read_options(open_project(), options)
    assert SECRET not in str(caught.value) and "--conf" in caught.value.fix
