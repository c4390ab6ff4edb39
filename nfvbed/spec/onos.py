"""The `onos:` part of a site's file: which ONOS steers there."""

from pydantic import Field

from nfvbed.spec.model import SpecModel


class OnosSpec(SpecModel):
    """An ONOS that runs already."""

    url: str = Field(pattern=r"^https?://[^\s/@]+$")
    """URL of its REST API, without a path: `http://192.0.2.10:8181`."""
    user: str = "onos"
    """User of its REST API."""
    password_env: str = Field("ONOS_PASSWORD", pattern=r"^[A-Z][A-Z0-9_]*$")
    """Name of the environment variable with the password; the password itself is in no file."""
    openflow_host: str = Field(pattern=r"^[^\s/]+$")
    """Host that takes switches, as seen from this machine."""
    openflow_port: int = Field(6653, ge=1, le=65535)
    """TCP port of its OpenFlow listener."""
    application: str = Field("org.nfvbed.steering", pattern=r"^[\w.-]+$")
    """Application id of its flow rules."""
