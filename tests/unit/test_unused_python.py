"""What set-up takes out of the environment is used by nothing: modules that import such a library do without it."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "setup" / "unused-python.txt"
LIBRARIES = ("pycrate_", "tackerclient", "translator", "toscaparser", "openstack", "keystoneauth1", "netaddr")
WITHOUT = """
import importlib, sys
from fnmatch import fnmatch
lines = [line for line in open(sys.argv[1]).read().splitlines() if line and line[0] != "#"]
stays = [line[1:] for line in lines if line[0] == "!"]
gone = [line for line in lines if line[0] != "!"]
class Gone:
    def find_spec(self, name, path=None, target=None):
        place = name.replace(".", "/")
        taken = any(fnmatch(f"{place}.py", one) or f"{place}/".startswith(f"{one}/") for one in gone)
        if taken and f"{place}.py" not in stays:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Gone())
for name in sys.argv[2:]:
    importlib.import_module(name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def users() -> list[str]:
    """The modules of nfvbed that import such a library."""
    found = []
    for path in sorted((ROOT / "nfvbed").rglob("*.py")):
        text = path.read_text()
        if any(name in text for name in LIBRARIES) and any(
            name.startswith(LIBRARIES) for node in ast.walk(ast.parse(text)) for name in imported(node)
        ):
            found.append(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    return found


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_modules_that_use_these_libraries_do_without_what_is_taken_out():
    names = users()
    assert "nfvbed.vnfs.epc.s1ap" in names
    argv = [sys.executable, "-W", "ignore", "-c", WITHOUT, str(LIST), *names, "translator.hot.tosca_translator"]
    ended = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stderr
    there = ended.stdout.split()
    assert {"pycrate_asn1dir", "translator"} <= set(there)
    assert "babel" not in there


def test_what_is_listed_goes_and_all_else_stays(tmp_path: Path):
    gone = ("pycrate_asn1dir/CAP.py", "netaddr/tests/unit/x.py", "babel/locale-data/de.dat")
    compiled = "pycrate_asn1dir/__pycache__/CAP.cpython-311.pyc"
    stay = (
        *("pycrate_asn1dir/__init__.py", "pycrate_asn1dir/S1AP.py", "pycrate_asn1dir/__pycache__/S1AP.cpython-311.pyc"),
        *("pycrate_asn1rt/err.py", "netaddr/ip.py", "babel/locale-data/root.dat", "babel/core.py"),
    )
    for name in (*gone, compiled, *stay):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    script = ROOT / "setup" / "unused"
    listed = subprocess.run([script, "--list", tmp_path], capture_output=True, text=True, check=True).stdout.split()
    assert listed == ["pycrate_asn1dir/CAP.py", "netaddr/tests", "babel/locale-data/de.dat"]
    subprocess.run([script, tmp_path], check=True)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(stay)
    # Once more, and where nothing of it was ever installed.
    assert subprocess.run([script, "--list", tmp_path], capture_output=True, check=True).stdout == b""
    subprocess.run([script, tmp_path / "none"], check=True)
