"""VALE, netmap's switch, by its own tool vale-ctl."""
