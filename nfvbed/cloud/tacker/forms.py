"""Tacker's APIs by their names: in tags, and as a site's file has them (`onboarding`)."""

import openstack.connection

from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.sol import SolApi
from nfvbed.cloud.tacker.solv2 import SolV2Api

_BY_NAME: dict[str, type[LegacyApi] | type[SolApi]] = {one.api: one for one in (LegacyApi, SolApi, SolV2Api)}


def open_api(name: str, connection: openstack.connection.Connection, journal: Journal) -> LegacyApi | SolApi:
    """Return the client of an API.

    Args:
        name: `legacy`, `sol` or `sol-v2`.
    """
    return _BY_NAME[name](connection, journal)
