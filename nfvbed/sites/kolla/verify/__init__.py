"""Whether a running rack matches a variant: machines are read over SSH, switches inside Kolla's containers."""
