"""The panel's page; all that is in it comes from `looking`."""

from typing import Any

from django.conf import settings
from horizon import views

from nfvbed_horizon.looking import look


class IndexView(views.HorizonTemplateView):
    """Deployments, runs, and links to nfvbed's dashboard."""

    template_name = "nfvbed/index.html"
    page_title = "NFV data planes: nfvbed"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Ask the dashboard for each page: nothing is kept."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context["look"] = look(settings)
        return context
