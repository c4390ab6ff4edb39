"""The panel of nfvbed, in the group NFV."""

PANEL = "nfvbed"
PANEL_DASHBOARD = "project"
PANEL_GROUP = "nfv"
ADD_PANEL = "nfvbed_horizon.panel.Nfvbed"
