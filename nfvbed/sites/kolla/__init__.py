"""Machines that kolla-ansible deploys an OpenStack on: what it is given for each variant and release."""
