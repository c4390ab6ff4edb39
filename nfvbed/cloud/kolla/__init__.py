"""What kolla-ansible deploys on a machine, and what the record of a data plane says about it; none is named here."""
