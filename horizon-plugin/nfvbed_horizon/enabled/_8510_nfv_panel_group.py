"""A group of panels, below Project."""

PANEL_GROUP = "nfv"
PANEL_GROUP_NAME = "NFV"
PANEL_GROUP_DASHBOARD = "project"
ADD_INSTALLED_APPS = ["nfvbed_horizon"]
