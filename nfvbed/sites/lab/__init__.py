"""The lab: this machine as a site, with data planes and VNFs, and nothing left behind."""
