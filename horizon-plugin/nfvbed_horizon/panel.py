"""The panel as Horizon registers it."""

import horizon
from django.conf import settings

ADMINISTRATORS = ("openstack.roles.admin",)
"""Who sees it unless the settings say otherwise: it shows hosts, and results are read in the name of all who see it."""


class Nfvbed(horizon.Panel):
    """nfvbed's deployments and runs."""

    name = "nfvbed"
    slug = "nfvbed"
    urls = "nfvbed_horizon.urls"
    permissions = tuple(getattr(settings, "NFVBED_PERMISSIONS", ADMINISTRATORS))
