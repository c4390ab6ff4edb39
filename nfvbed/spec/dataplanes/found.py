"""Which data planes there are: those whose options a module of this folder declares. There is no list to keep."""

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import get_args

from nfvbed.spec.options import DataPlaneOptions


def declared_options() -> tuple[type[DataPlaneOptions], ...]:
    """Give the options of every data plane: each class in a module of this folder that says which `dataplane` it is."""
    folder = Path(__file__).parent
    modules = [import_module(f"{__package__}.{found.name}") for found in pkgutil.iter_modules([str(folder)])]
    own = [thing for module in modules for thing in vars(module).values() if _is_of(thing, module.__name__)]
    return tuple(sorted(own, key=name_of))


def name_of(options: type[DataPlaneOptions]) -> str:
    """Give the name of the data plane whose options these are, as `dataplane` has it."""
    (name,) = get_args(options.model_fields["dataplane"].annotation)
    return str(name)


def _is_of(thing: object, module: str) -> bool:
    if not (isinstance(thing, type) and issubclass(thing, DataPlaneOptions) and thing.__module__ == module):
        return False
    return bool(get_args(thing.model_fields["dataplane"].annotation))
