"""What the user data says of this guest: one line of words, as nfvbed's descriptors have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from agent.refusal import Refusal

_PREFIX = "vnf."
_SEED = f"{_PREFIX}seed"
_LEAST_SEED = 32
Value = TypeVar("Value")


@dataclass(frozen=True)
class Address:
    """An address of a function's port."""

    link: str
    address: str
    prefix: int

    def __str__(self) -> str:
        """As `ip` takes it."""
        return f"{self.address}/{self.prefix}"


@dataclass(frozen=True)
class Given:
    """The user data, read."""

    machine: str
    functions: tuple[str, ...]
    nics: tuple[str, ...]
    """Links of the NICs, in their order."""
    ports: Mapping[str, Address]
    """By `FUNCTION.PORT`."""
    peers: Mapping[str, str]
    """Addresses by `LINK.FUNCTION`."""
    config: Mapping[str, str]
    """Settings by `FUNCTION.KEY`."""
    generators: Mapping[str, str]
    """Addresses by link, at which a generator may be in the place of what is there."""
    seed: str
    """What keys are made from: a secret of the deployment."""

    def port(self, name: str) -> Address:
        """Return the address of an own port.

        Raises:
            Refusal: the user data has none.
        """
        return _of(self.ports, f"{_PREFIX}port.", name)

    def peer(self, name: str) -> str:
        """Return the address of another guest's function on a link.

        Raises:
            Refusal: the user data has none.
        """
        return _of(self.peers, f"{_PREFIX}peer.", name)

    def at(self, link: str, function: str) -> str:
        """Return the address of a function on a link, whether it is in this guest or in another one.

        Raises:
            Refusal: the user data has none.
        """
        own = (
            one.address for name, one in self.ports.items() if (name.partition(".")[0], one.link) == (function, link)
        )
        return next(own, "") or self.peer(f"{link}.{function}")

    def setting(self, name: str) -> str:
        """Return a setting.

        Raises:
            Refusal: the user data has none.
        """
        return _of(self.config, f"{_PREFIX}config.", name)

    def require(self, name: str, value: str) -> None:
        """Refuse another value of a setting than the one that the emulated eNB has.

        Raises:
            Refusal: it is another one.
        """
        found = self.setting(name)
        if found != value:
            raise Refusal(f"{_PREFIX}config.{name} can be {value} alone", observed=found)


def read(text: str) -> Given:
    """Read user data.

    Raises:
        Refusal: it lacks something, or a word is not as it must be; the seed is never repeated.
    """
    words = dict(word.split("=", 1) for word in text.split() if word.startswith(_PREFIX) and "=" in word)
    if not words:
        raise Refusal("there is no user data with words vnf.NAME=VALUE", where="config drive", observed="no such word")
    seed = words.pop(_SEED, "")
    if len(seed) < _LEAST_SEED:
        raise Refusal(f"the user data has no {_SEED} of {_LEAST_SEED} characters", where="config drive")
    ports = {name: _address(name, value) for name, value in _below(words, "port").items() if "," in value}
    nics = _below(words, "nic")
    return Given(
        machine=words.get(f"{_PREFIX}machine", ""),
        functions=tuple(filter(None, words.get(f"{_PREFIX}functions", "").split(","))),
        nics=tuple(nics[str(number)] for number in range(len(nics)) if str(number) in nics),
        ports=ports,
        peers=_below(words, "peer"),
        config=_below(words, "config"),
        generators=_below(words, "generator"),
        seed=seed,
    )


def _below(words: Mapping[str, str], kind: str) -> dict[str, str]:
    start = f"{_PREFIX}{kind}."
    return {word.removeprefix(start): value for word, value in words.items() if word.startswith(start)}


def _address(name: str, value: str) -> Address:
    link, _, rest = value.partition(",")
    address, _, prefix = rest.partition("/")
    if not prefix.isdigit():
        raise Refusal("a port has no address with the length of its prefix", where=name, observed=value)
    return Address(link, address, int(prefix))


def _of(values: Mapping[str, Value], kind: str, name: str) -> Value:
    if name not in values:
        raise Refusal(f"the user data has no {kind}{name}", observed=", ".join(sorted(values)) or "none of this kind")
    return values[name]
