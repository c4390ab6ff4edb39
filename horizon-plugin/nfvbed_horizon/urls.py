"""The panel's one page."""

from django.urls import path

from nfvbed_horizon.views import IndexView

urlpatterns = [path("", IndexView.as_view(), name="index")]
