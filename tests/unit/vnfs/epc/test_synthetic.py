"""Synthetic bearers come after those of attached UEs, and are none of them."""

from ipaddress import IPv4Address

import pytest

from nfvbed.spec.bearers import MOST_BEARERS, Bearer, BearerTable
from nfvbed.vnfs.epc.network import UES
from nfvbed.vnfs.epc.synthetic import with_synthetic

ATTACHED = BearerTable(
    enb=IPv4Address("198.18.0.1"),
    sgw=IPv4Address("198.18.255.1"),
    server=IPv4Address("198.19.0.1"),
    bearers=tuple(
        Bearer(imsi=f"00101{number:010d}", ue=UES[number + 1], uplink_teid=number, downlink_teid=number)
        for number in range(1, 17)
    ),
)


@pytest.mark.parametrize("wanted", [17, 1_000, MOST_BEARERS])
def test_the_table_is_filled_up_and_says_so(wanted: int) -> None:
    table = with_synthetic(ATTACHED, wanted)
    assert len(table.bearers) == wanted
    assert table.bearers[:16] == ATTACHED.bearers
    assert table.synthetic
    assert not any(bearer.ue in UES for bearer in table.bearers[16:])


@pytest.mark.parametrize("wanted", [1, 16])
def test_what_attach_gave_is_left_alone(wanted: int) -> None:
    assert with_synthetic(ATTACHED, wanted) == ATTACHED


def test_an_entry_that_a_ue_has_already_is_refused() -> None:
    taken = with_synthetic(ATTACHED, 17).bearers[16].uplink_teid
    first, *others = ATTACHED.bearers
    table = ATTACHED.model_copy(update={"bearers": (first.model_copy(update={"uplink_teid": taken}), *others)})
    with pytest.raises(ValueError, match="belongs to more than one bearer"):
        with_synthetic(table, 17)
