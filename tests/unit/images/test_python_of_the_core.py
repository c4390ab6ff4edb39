"""The mobile core's image has every module of the project that its programs import."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]


def imported(path):
    """Yield the project's files that a file imports, those inside functions too."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            found = name.replace(".", "/")
            yield from (file for file in (f"{found}.py", f"{found}/__init__.py") if (ROOT / file).is_file())


def test_what_the_modules_of_the_image_import_is_in_it_too():
    lines = (ROOT / "images/vepc/python.txt").read_text().splitlines()
    listed = {line for line in lines if line.startswith("nfvbed/")}
    lacking = {(path, other) for path in listed for other in imported(path) if other.startswith("nfvbed/")} - {
        (path, other) for path in listed for other in listed
    }
    assert listed and lacking == set()
