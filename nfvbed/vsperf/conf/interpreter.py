"""Interprets the statements of files of VSPERF's form, which share their names, as in VSPERF."""

import ast
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf.calls import RESERVED
from nfvbed.vsperf.conf.expressions import FAULTS, Expressions, shown_source
from nfvbed.vsperf.conf.placed import Place, PlacedDict, refused

MAX_FILE_BYTES: Final = 1 << 18
IMPORTS: Final = ("import os", "import os.path", "import copy", "from conf import settings")
"""What stock files import; it is known here and nothing is loaded."""
ROOT_DIR: Final = "VSPERF"
"""Stands for VSPERF's folder where no file says where it is."""
STARTED: Final = ("PATHS", "TEST_PARAMS")
"""Empty dictionaries of VSPERF's own files, of which a user's file can set parts."""
OPEN_NAMES: Final = ("PATHS",)
"""Files may set a part of it without the file that sets the rest; nothing is done with it."""


class Interpreter:
    """Reads files in order.

    Attributes:
        names: every name with its value, those of helpers too.
        values: the settings; as in VSPERF, a setting keeps its value when a file gives it None.
        places: where each setting was given its value.
        given: where each name was given a value, None too, last.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"ROOT_DIR": ROOT_DIR, **{name: PlacedDict() for name in STARTED}}
        self.values: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        self.given: dict[str, Place] = {}
        self._given: dict[str, Place] = {}
        self._path = Path()
        self._expressions = Expressions(self._path, self.names, self.values)
        self._statements: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self._assign,
            ast.AugAssign: self._add,
            ast.Expr: self._expression,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Pass: lambda _: None,
        }

    def run(self, path: Path, text: str) -> None:
        """Read one file.

        Raises:
            ConfigurationError: not Python, a form that is not read, or values that do not fit together; with the line.
        """
        self._path = path
        self._given = {}
        self._expressions = Expressions(path, self.names, self.values)
        try:
            for statement in _parse(path, text):
                self._statement(statement)
        except RecursionError as error:
            raise refused(f"{path.name} nests too deeply", Place(path, 1), str(error), "write it flatter") from error
        self.given.update(self._given)
        for name, place in self._given.items():
            if self.names[name] is not None:
                self.values[name] = self.names[name]
                self.places[name] = place

    def _statement(self, statement: ast.stmt) -> None:
        read = self._statements.get(type(statement))
        if read is None:
            raise self._not_read(statement, "write `NAME = value`; files of VSPERF's form have no control flow")
        try:
            read(statement)
        except FAULTS as error:
            raise refused(
                f"a line in {self._path.name} cannot be read",
                self._expressions.place(statement),
                f"{shown_source(statement)}: {type(error).__name__}: {error}",
                "fix the line",
            ) from error

    def _assign(self, statement: ast.Assign) -> None:
        value = self._expressions.value(statement.value)
        for target in statement.targets:
            self._set(target, value)

    def _set(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._name(target, value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = list(value)
            if len(parts) != len(target.elts):
                raise ValueError(f"{len(parts)} values for {len(target.elts)} names")
            for name, part in zip(target.elts, parts, strict=True):
                self._set(name, part)
        elif isinstance(target, ast.Subscript):
            self._item(target, value)
        else:
            raise self._not_read(target, "give the value to a name, or to NAME['key']")

    def _name(self, target: ast.Name, value: Any) -> None:
        if target.id in RESERVED:
            raise self._not_read(target, f"choose another name; {target.id} has a meaning of its own")
        self.names[target.id] = value
        self._given[target.id] = self._expressions.place(target)

    def _item(self, target: ast.Subscript, value: Any) -> None:
        self._touched(target)
        container = self._container(target.value)
        index = self._expressions.index(target.slice)
        if isinstance(container, PlacedDict):
            container.put(index, value, self._expressions.place(target))
        elif isinstance(container, list) and isinstance(index, int):
            container[index] = value
        else:
            raise TypeError(f"a {type(container).__name__} has no parts that can be set")

    def _container(self, node: ast.expr) -> Any:
        """Return the container in which a part is set; one of `OPEN_NAMES` is made if missing."""
        if not (isinstance(node, ast.Subscript) and _base(node) in OPEN_NAMES):
            return self._expressions.value(node)
        above = self._container(node.value)
        index = self._expressions.index(node.slice)
        if isinstance(above, PlacedDict) and index not in above:
            above.put(index, PlacedDict(), self._expressions.place(node))
        return above[index]

    def _add(self, statement: ast.AugAssign) -> None:
        if not isinstance(statement.op, ast.Add) or not isinstance(statement.target, ast.Name):
            raise self._not_read(statement, "only `NAME += value` is read")
        load = ast.copy_location(ast.Name(statement.target.id, ast.Load()), statement.target)
        sum_ = ast.copy_location(ast.BinOp(load, ast.Add(), statement.value), statement)
        result, old = self._expressions.value(sum_), self.names[statement.target.id]
        if isinstance(old, list):
            # As Python does: other names of the same list see it too.
            old[:] = result
            result = old
        self._name(statement.target, result)

    def _expression(self, statement: ast.Expr) -> None:
        if isinstance(statement.value, ast.Call | ast.Constant):
            self._expressions.value(statement.value)
            if isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute):
                self._touched(statement.value.func.value)
            return
        raise self._not_read(statement, "remove the line; it has no effect")

    def _touched(self, node: ast.expr) -> None:
        """Record that this file gives a name its value by setting a part of it, or calling its method."""
        name = _base(node)
        if name is not None and name in self.names:
            self._given.setdefault(name, self._expressions.place(node))

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        if ast.unparse(statement) not in IMPORTS:
            raise self._not_read(statement, f"remove it; known are: {', '.join(IMPORTS)}")

    def _not_read(self, node: ast.AST, fix: str) -> ConfigurationError:
        what = f"this form is not read in {self._path.name}"
        return refused(what, self._expressions.place(node), shown_source(node).splitlines()[0], fix)


def _base(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _parse(path: Path, text: str) -> list[ast.stmt]:
    if len(text) > MAX_FILE_BYTES:
        raise refused(
            f"{path.name} is too long", Place(path, 1), f"{len(text)} characters", f"at most {MAX_FILE_BYTES}"
        )
    try:
        with warnings.catch_warnings():
            # Stock files have regular expressions in plain texts; the back-slashes in them are kept.
            warnings.simplefilter("ignore")
            return ast.parse(text, str(path)).body
    except SyntaxError as error:
        observed = error.msg + (f": {error.text.strip()}" if error.text else "")
        place = Place(path, error.lineno or 1)
        raise refused(f"{path.name} is not of VSPERF's form (Python)", place, observed, "fix that line") from error
    except (ValueError, MemoryError) as error:
        what = f"{path.name} is not of VSPERF's form (Python)"
        # What Python's parser says where its stack ends differs from version to version.
        observed = "it nests too deeply" if isinstance(error, MemoryError) else str(error)
        raise refused(what, Place(path, 1), observed, "fix the file") from error
