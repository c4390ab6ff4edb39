"""What a room writes down of a deployment, and what reads it back."""

import json
from typing import Annotated

import pytest

from nfvbed.errors import DeployError
from nfvbed.records import Deployment, Record
from nfvbed.records.state import NESTED, Cores, PlaneState, State, shown


class Inner(Record):
    ports: tuple[str, ...]


class Switch(State):
    cores: Cores
    inner: Annotated[Inner, NESTED]
    folder: str | None = None


STATE = Switch(cores=(0, 3), inner=Inner(ports=("p0", "p1")))
ENDS = PlaneState(switch_netns="/run/netns/x", destination_macs=("a", "b"))


def deployment(control):
    record = Deployment(id="d", variant="v", site="lab", topology="p2p", ports=(), control=control)
    return Deployment.model_validate_json(record.model_dump_json())


def test_parts_are_read_back_from_what_another_process_wrote():
    found = deployment(STATE.as_control() | ENDS.as_control())
    assert Switch.of(found) == STATE
    assert PlaneState.of(found) == ENDS


def test_keys_are_the_names_and_absent_values_are_left_out():
    written = STATE.as_control() | ENDS.as_control()
    assert written == {
        "cores": "0,3",
        "inner": {"ports": ["p0", "p1"]},
        "switch_netns": "/run/netns/x",
        "destination_macs": "a,b",
    }


def test_a_model_that_former_nfvbed_wrote_as_text_is_read():
    former = STATE.as_control() | {"inner": json.dumps({"ports": ["p0", "p1"]})}
    assert Switch.of(deployment(former)) == STATE


def test_what_cannot_be_read_says_which_field_and_what_to_do():
    with pytest.raises(DeployError, match="cannot be read") as failure:
        Switch.of(deployment({"cores": "0,x"}))
    assert "control of d" in failure.value.where
    assert "cores.1" in failure.value.observed
    assert "inner" in failure.value.observed
    assert "nfvbed destroy" in failure.value.fix


def test_lines_for_a_terminal():
    assert dict(shown(STATE.as_control())) == {"cores": "0,3", "inner": "ports p0 p1"}


def test_of_several_machines_each_is_a_line_with_its_ports():
    machine = {"machine": "sink", "host": "compute2", "ports": [{"id": "1", "mac": "a"}, {"id": "2", "mac": ""}]}
    assert [*shown({"instance": "0f", "behind": [machine, {"machine": "end"}]})] == [
        ("instance", "0f"),
        ("behind", "machine sink, host compute2, ports (id 1, mac a) (id 2)"),
        ("behind", "machine end"),
    ]
