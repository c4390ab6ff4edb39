"""One core or two: measured in turns, and two only where that is clearly more."""

import pytest

from nfvbed.traffic.sendercores import choose_cores


@pytest.mark.parametrize(
    ("one", "two", "cores", "told"),
    [
        (5.06e6, 7.8e6, 2, "from a core for each port: 7.8 Mpps came back, with one core for both 5.06"),
        (9.43e6, 2.85e6, 1, "from one core: 9.43 Mpps came back, with two cores 2.85"),
        (1e6, 1.04e6, 1, "from one core"),
        (0.0, 0.0, 1, "from one core"),
    ],
)
def test_two_cores_are_taken_where_more_comes_back(one, two, cores, told):
    asked = []

    def received_pps(number):
        asked.append(number)
        return one if number == 1 else two

    chosen = choose_cores(received_pps)
    assert asked == [1, 2, 2, 1]
    assert chosen.cores == cores
    assert told in str(chosen)
