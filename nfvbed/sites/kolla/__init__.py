"""Racks: machines on which kolla-ansible deploys an OpenStack; what it is given, and the rack as a site."""
