"""The lab: this machine as a site, with everything that is undone afterwards."""
