"""The mobile core as two guests of its image: a UE attaches and its pings are carried, or the cause is on the console.

What nextepc does is not compared here: only that its functions, unmodified, carry a UE's packets in these guests.
"""

import secrets

import pytest

from tests.image.vepc_guests import running
from tests.unit.vnfs.descriptors import several

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def user_data(**seeds):
    """Return the user data of each guest as descriptors have it, with its secret."""
    made = several.request(several.TWO, soft=True).flavour(several.TWO)
    return {one.name: several.userdata.with_seed(one.user_data, seeds[one.name]) for one in made.machines}


def test_a_ue_attaches_and_its_pings_are_carried(tmp_path):
    seed = secrets.token_hex(16)
    with running(tmp_path, user_data(core=seed, edge=seed)) as guests:
        assert guests["edge"].wait("ping carried: ").startswith("ping carried: 10 of 10,")
        assert guests["core"].wait("functions up: ").startswith("functions up: store hss pcrf sgw pgw mme after ")
        said = [line.partition(":")[0] for line in guests["edge"].said()]
        assert said[-2:] == ["attached", "ping carried"]
        printed = "".join(guest.console.read_text(errors="replace") for guest in guests.values())
    assert seed not in printed


def test_another_secret_in_the_other_guest_is_told_as_another_key(tmp_path):
    with running(tmp_path, user_data(core=secrets.token_hex(16), edge=secrets.token_hex(16))) as guests:
        said = guests["edge"].wait("attached: ")
        assert said.startswith("failed: the UE is not attached after 4 attempts: ")
        assert "another key than the SIM" in said


def test_user_data_without_a_secret_and_of_another_form_is_refused(tmp_path):
    made = several.request(several.EIGHT, soft=True).flavour(several.EIGHT)
    words = {one.name: one.user_data for one in made.machines}
    of_one = several.userdata.with_seed(words["mme"], secrets.token_hex(16)).replace("vnf.nic.", "vnf.of.")
    with running(tmp_path, {"core": of_one, "edge": words["hss"].replace("vnf.nic.", "vnf.of.")}) as guests:
        assert guests["core"].wait("functions up: ").startswith("failed: this image runs hss,mme,pcrf,pgw,sgw or ")
        assert guests["edge"].wait("functions up: ").startswith("failed: the user data has no vnf.seed")
