"""A path as a JSON file, for the controller that runs in a process of its own."""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from nfvbed.dataplanes.ovs.steering.path import SteeringPath, SwitchCable
from nfvbed.errors import ConfigurationError


class PathFile(BaseModel):
    """What is in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["nfvbed-path/1"] = "nfvbed-path/1"
    ports: dict[str, int]
    """OpenFlow port numbers by name."""
    cables: tuple[tuple[str, str, tuple[int, int] | None], ...]
    """Two ports and the share, in the order of the path."""


def write_path(file: Path, path: SteeringPath) -> None:
    """Write a path."""
    cables = tuple((cable.port_a, cable.port_b, cable.share) for cable in path.cables)
    file.write_text(PathFile(ports=dict(path.ports), cables=cables).model_dump_json(indent=1) + "\n")


def read_path(file: Path) -> SteeringPath:
    """Read a path.

    Raises:
        ConfigurationError: the file is not there or holds something else.
    """
    try:
        content = PathFile.model_validate(json.loads(file.read_text()))
    except (OSError, ValueError, ValidationError) as failure:
        raise ConfigurationError("no path can be read", where=str(file), observed=str(failure)) from failure
    return SteeringPath(content.ports, tuple(SwitchCable(*cable) for cable in content.cables))
