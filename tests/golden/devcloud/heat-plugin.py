"""Loaded by heat-engine at its start: it tells nobody of what it scales.

Debian 12's oslo.messaging asks a context for its roles before it hands a notification on, and Heat 19's stored context
then fails with "Authorization failed": without this no signal to a scaling policy comes through. The driver of
notifications is `noop` here: nobody misses them.
"""

from heat.engine import notification


def _tell_nobody(context, event_type, level, body):
    """Take the place of heat.engine.notification.notify."""


def resource_mapping():
    """Return the resource types of this plug-in: none."""
    return {}


notification.notify = _tell_nobody
