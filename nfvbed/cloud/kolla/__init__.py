"""What kolla-ansible deploys on a machine, and what a data plane's record says of that; none is named here."""
