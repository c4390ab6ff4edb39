"""A whole cloud is taken down by its name alone."""

import pytest

from nfvbed.errors import UsageError
from nfvbed.spec.confirming import require_confirmed

FIX = "type rack when asked, or --yes rack"


@pytest.mark.parametrize("given", [None, "", "Rack", "yes", "rack "])
def test_taking_down_is_confirmed_by_the_name(given: str | None):
    with pytest.raises(UsageError, match="was not confirmed") as error:
        require_confirmed("rack", given, FIX)
    assert error.value.fix == FIX


def test_the_name_confirms():
    require_confirmed("rack", "rack", FIX)
