"""Evaluates the expressions of a file of VSPERF's form by a list of allowed forms; nothing is executed."""

import ast
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from nfvbed.spec.validate import suggestion
from nfvbed.vsperf.conf.calls import FUNCTIONS, METHODS, OPERATORS, bounded
from nfvbed.vsperf.conf.placed import Place, PlacedDict, refused, shown

LITERALS = (str, int, float, bool, type(None))
GET_VALUE: Final = "settings.getValue"
RUNTIME_NAMES: Final = ("RESULTS_PATH", "LOG_TIMESTAMP")
"""VSPERF knows them only while it runs; a file gets substitutes for them."""
FAULTS = (TypeError, ValueError, KeyError, IndexError, ArithmeticError, AttributeError)


class Expressions:
    """The expressions of one file.

    Args:
        names: names from the files read before, and from the lines above.
        values: the settings of the files read before, for `settings.getValue`.
    """

    def __init__(self, path: Path, names: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        self._path = path
        self._names = names
        self._values = values
        self._forms: dict[type[ast.expr], Callable[[Any], Any]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.List: lambda node: [self.value(item) for item in node.elts],
            ast.Tuple: lambda node: tuple(self.value(item) for item in node.elts),
            ast.Dict: self._dictionary,
            ast.Subscript: self._subscript,
            ast.BinOp: self._operation,
            ast.UnaryOp: self._sign,
            ast.Call: self._call,
        }

    def place(self, node: ast.AST) -> Place:
        """Return the place of a part of the file."""
        return Place(self._path, getattr(node, "lineno", 1))

    def value(self, node: ast.expr) -> Any:
        """Return the value of one expression.

        Raises:
            ConfigurationError: a form that is not read, an unknown name, or values that do not fit together.
        """
        form = self._forms.get(type(node))
        if form is None:
            raise refused(
                f"this form is not read in {self._path.name}",
                self.place(node),
                shown_source(node),
                "write literals, os.path.join(ROOT_DIR, ...), copy.deepcopy(...), and +, .update and .format on them",
            )
        try:
            return form(node)
        except FAULTS as error:
            raise refused(
                f"an expression in {self._path.name} has no value",
                self.place(node),
                f"{shown_source(node)}: {type(error).__name__}: {error}",
                "fix the expression",
            ) from error

    def _constant(self, node: ast.Constant) -> Any:
        if not isinstance(node.value, LITERALS):
            raise TypeError(f"a {type(node.value).__name__} is not read")
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id == "__file__":
            return str(self._path)
        if node.id not in self._names:
            raise refused(
                f"unknown name {node.id!r} in {self._path.name}",
                self.place(node),
                f"name {node.id!r}",
                "give it a value above this line or in a file that is read before; "
                + suggestion(node.id, [name for name in self._names if name[0] == node.id[0]]),
            )
        return self._names[node.id]

    def _dictionary(self, node: ast.Dict) -> PlacedDict:
        result = PlacedDict()
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                raise TypeError("`**` is not read")
            result.put(self.value(key), self.value(item), self.place(key))
        return result

    def _subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.index(node.slice)]

    def index(self, node: ast.expr) -> Any:
        """Return the value in brackets: a key, a number, or a slice."""
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return slice(*(None if end is None else self.value(end) for end in ends))
        return self.value(node)

    def _operation(self, node: ast.BinOp) -> Any:
        operator = OPERATORS.get(type(node.op))
        if operator is None:
            raise TypeError("this operator is not read")
        return operator(self.value(node.left), self.value(node.right))

    def _sign(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if not isinstance(node.op, ast.USub) or not isinstance(value, int | float):
            raise TypeError("only the minus of a number is read")
        return -value

    def _call(self, node: ast.Call) -> Any:
        name = _dotted(node.func)
        if name == GET_VALUE:
            return self._setting(node)
        if name is not None and name in FUNCTIONS:
            return bounded(FUNCTIONS[name](*self._arguments(node), **self._named(node)))
        if isinstance(node.func, ast.Attribute):
            target = self.value(node.func.value) if name is None or name.split(".")[0] in self._names else None
            method = METHODS.get(type(target), {}).get(node.func.attr)
            if method is not None:
                return bounded(method(target, *self._arguments(node), **self._named(node)))
        raise refused(
            f"a call in {self._path.name} is not read",
            self.place(node),
            shown_source(node.func),
            f"the functions that are read: {', '.join(sorted(FUNCTIONS))}",
        )

    def _arguments(self, node: ast.Call) -> list[Any]:
        return [self.value(argument) for argument in node.args]

    def _named(self, node: ast.Call) -> dict[str, Any]:
        if any(keyword.arg is None for keyword in node.keywords):
            raise TypeError("`**` is not read")
        return {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}

    def _setting(self, node: ast.Call) -> Any:
        (name,) = self._arguments(node)
        if name in self._values:
            return self._values[name]
        if name in RUNTIME_NAMES:
            return f"${name}"
        raise KeyError(name)


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = _dotted(node.value)
        return None if above is None else f"{above}.{node.attr}"
    return None


def shown_source(node: ast.AST) -> str:
    """Return the source of a part of the file as a message repeats it."""
    return shown(ast.unparse(node)).strip("'\"")
