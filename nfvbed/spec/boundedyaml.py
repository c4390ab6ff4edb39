"""YAML of others, read within bounds: nfvbed reads YAML in no other way.

libyaml (the parser of `yaml.CSafeLoader`) makes the events. PyYAML's own composer makes nodes of them: that of
`yaml.CSafeLoader` descends on the stack of C, and what a few bytes unfold into can be counted between events alone.
"""

from typing import Any, Final, NoReturn

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.cyaml import CParser
from yaml.resolver import Resolver

MOST_CHARACTERS: Final = 10_000_000
"""The longest text."""
MOST_DEPTH: Final = 64
"""The most lists and mappings within each other."""
MOST_ALIASES: Final = 100
MOST_NODES: Final = 100_000
"""Values, keys, lists and mappings; what an alias stands for counts each time, and long texts count by their length."""
CHARACTERS_OF_A_NODE: Final = 200
MOST_DIGITS: Final = 400
"""The most digits of a number: Python takes more than linear time to read one, and refuses longest ones with an error
of its own.
"""

MOST_EXPLAINED: Final = 65_536
"""Characters of a text whose fault is named in the words of PyYAML's own scanner: it is fifty times as slow."""

_FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What PyYAML's constructor raises where a tag does not fit its value, or a day is not in its month."""
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


class BoundsExceeded(yaml.composer.ComposerError):
    """A text that is well-formed as far as it was read, and passes one of the bounds."""


class BoundedLoader(Composer, CParser, SafeConstructor, Resolver):
    """A loader of one text.

    Args:
        aliases: how many are read; 0: none is allowed.

    Raises:
        yaml.YAMLError: it is longer than is read.
    """

    def __init__(self, text: str, aliases: int = MOST_ALIASES) -> None:
        if len(text) > MOST_CHARACTERS:
            raise BoundsExceeded(None, None, f"it has {len(text)} characters; {MOST_CHARACTERS} are read", None)
        try:
            CParser.__init__(self, text)
        except UnicodeEncodeError as failure:
            raise yaml.YAMLError(f"character {failure.start + 1} is not one of Unicode's") from failure
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self._aliases_left = self._aliases = aliases
        self._depth = 0
        self._nodes = 0
        self._sizes: dict[str, int] = {}
        """Nodes of what has an anchor, by the anchor."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node:
        """Compose a node, counted before it is made.

        Raises:
            yaml.YAMLError: it is malformed, or passes one of the bounds; with its place.
        """
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            self._count_alias(event)
            return super().compose_node(parent, index)
        before = self._nodes
        self._count(event, 1 + len(getattr(event, "value", "")) // CHARACTERS_OF_A_NODE)
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._refuse(event, f"it nests too deeply: {MOST_DEPTH} levels are read")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if event.anchor is not None:
            self._sizes[event.anchor] = self._nodes - before
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Make the value of a node.

        Raises:
            yaml.YAMLError: its tag does not fit it, or it is a number that is too long.
        """
        if node.tag in _NUMBERS and isinstance(node.value, str) and len(node.value) > MOST_DIGITS:
            self._refuse(node, f"a number of {len(node.value)} digits; {MOST_DIGITS} are read")
        try:
            return super().construct_object(node, deep)
        except _FAULTS as failure:
            problem = f"this is no {node.tag.rpartition(':')[2]} ({failure})"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from failure

    def _count_alias(self, event: yaml.AliasEvent) -> None:
        if not self._aliases:
            self._refuse(event, "aliases (*name) are not allowed here")
        if not self._aliases_left:
            self._refuse(event, f"it has too many aliases (*name): {self._aliases} are read")
        self._aliases_left -= 1
        if event.anchor in self.anchors and event.anchor not in self._sizes:
            self._refuse(event, f"what the alias *{event.anchor} stands for holds itself")
        self._count(event, self._sizes.get(event.anchor, 1))

    def _count(self, event: yaml.Event, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            self._refuse(event, f"it holds too much: {MOST_NODES} values are read, with what aliases stand for")

    def _refuse(self, at: yaml.Event | yaml.Node, problem: str) -> NoReturn:
        raise BoundsExceeded(None, None, problem, at.start_mark)


def explained(text: str, error: yaml.YAMLError) -> yaml.YAMLError:
    """Return the error in the words of PyYAML's own scanner, which names what it saw; libyaml names what it missed.

    Args:
        text: the malformed text.
        error: libyaml's, raised while it read the text.
    """
    if isinstance(error, yaml.scanner.ScannerError | yaml.parser.ParserError) and len(text) <= MOST_EXPLAINED:
        try:
            for _ in yaml.parse(text, Loader=yaml.SafeLoader):
                pass
        except yaml.YAMLError as own:
            return own
    return error


def load(text: str, aliases: int = MOST_ALIASES) -> Any:
    """Return what `yaml.safe_load` returns, of a text within the bounds.

    Args:
        aliases: how many are read; 0: none is allowed.

    Raises:
        yaml.YAMLError: it is malformed, or passes one of the bounds; with its place.
    """
    return BoundedLoader(text, aliases).get_single_data()
