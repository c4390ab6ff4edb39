"""A ring has a power of two of descriptors, on every port."""

import pytest
from pydantic import TypeAdapter, ValidationError

from nfvbed.dataplanes.lagopus.options import LagopusOptions
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.overlay.options import OvsOverlayOptions
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.spec.rings import RingSize


@pytest.mark.parametrize("size", [64, 512, 4096])
def test_powers_of_two(size: int) -> None:
    assert TypeAdapter(RingSize).validate_python(size) == size


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (1000, "512 or 1024"),
        (65, "64 or 128"),
        (32, "greater than or equal to 64"),
        (8192, "less than or equal to 4096"),
    ],
)
def test_what_no_ring_has(size: int, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        TypeAdapter(RingSize).validate_python(size)


@pytest.mark.parametrize("options", [OvsDpdkOptions, OvsAfxdpOptions, OvsOverlayOptions, VppOptions, LagopusOptions])
def test_every_data_plane_with_rings_says_so(options) -> None:
    name = options.model_fields["dataplane"].annotation.__args__[0]
    key = "queue_size" if options is LagopusOptions else "rx_queue_size"
    assert options.model_validate({"dataplane": name, key: 128}).ring_size == 128
    with pytest.raises(ValidationError, match="power of two"):
        options.model_validate({"dataplane": name, key: 100})
