"""The mobile core as guests of its image: a UE attaches and its pings are carried, or the cause is on the console.

What nextepc does is not compared here: only that its functions, unmodified, carry a UE's packets in these guests.
"""

import secrets

import pytest

from nfvbed.vnfs.descriptors.seedword import with_seed
from tests.image.vepc_guests import running
from tests.unit.vnfs.descriptors import several

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def user_data(**seeds):
    """Return the user data of each guest as descriptors have it, with its secret."""
    return {name: with_seed(words, seeds[name]) for name, words in described(several.TWO).items()}


def described(flavour):
    """Return the user data of each guest of a deployment flavour."""
    return {one.name: one.user_data for one in several.request(flavour, soft=True).flavour(flavour).machines}


def test_a_ue_attaches_and_its_pings_are_carried(tmp_path):
    seed = secrets.token_hex(16)
    with running(tmp_path, user_data(core=seed, edge=seed)) as guests:
        assert guests["edge"].wait("ping carried: ").startswith("ping carried: 10 of 10,")
        assert guests["core"].wait("functions up: ").startswith("functions up: store hss pcrf sgw pgw mme after ")
        bearers = int(guests["edge"].wait("bearers: ").split()[1])
        said = [line.partition(":")[0] for line in guests["edge"].said()]
        first = said.index("attached")
        carried = ["attached", "ping carried", "tcp carried"]
        assert said[first:] == [*carried, *["attached", "bearer"] * bearers, "bearers"]
        printed = "".join(guest.console.read_text(errors="replace") for guest in guests.values())
    assert seed not in printed


def test_eight_guests_with_a_function_each_find_each_other(tmp_path):
    seed = secrets.token_hex(16)
    words = {name: with_seed(said, seed) for name, said in described(several.EIGHT).items()}
    with running(tmp_path, words) as guests:
        for name in ("hss", "pcrf", "sgw", "pgw", "mme"):
            said = guests[name].wait("functions up: ")
            assert said.startswith(f"functions up: {'store hss' if name == 'hss' else name} after "), name
        assert guests["ue-enb"].wait("ping carried: ").startswith("ping carried: 10 of 10,")


def test_another_secret_in_the_other_guest_is_told_as_another_key(tmp_path):
    with running(tmp_path, user_data(core=secrets.token_hex(16), edge=secrets.token_hex(16))) as guests:
        said = guests["edge"].wait("attached: ")
        assert said.startswith("failed: the UE is not attached after 4 attempts: ")
        assert "another key than the SIM" in said


def test_user_data_without_a_secret_and_of_another_form_is_refused(tmp_path):
    words = described(several.EIGHT)
    seeded = with_seed(words["mme"], secrets.token_hex(16)).replace("vnf.nic.", "vnf.of.")
    mixed = seeded.replace("vnf.functions=mme", "vnf.functions=mme,igw")
    with running(tmp_path, {"core": mixed, "edge": words["hss"].replace("vnf.nic.", "vnf.of.")}) as guests:
        said = guests["core"].wait("functions up: ")
        assert said.startswith("failed: this image runs some of hss,mme,pcrf,pgw,sgw or igw,server,ue-enb: ")
        assert guests["edge"].wait("functions up: ").startswith("failed: the user data has no vnf.seed")
