"""The `onos:` part of a site's file: which ONOS steers there."""

from pydantic import Field

from nfvbed.spec.model import SpecModel


class OnosSpec(SpecModel):
    """An ONOS that runs already."""

    url: str = Field(pattern=r"^https?://[^\s/@]+$")
    """Of its REST API, without a path: `http://192.0.2.10:8181`."""
    user: str = "onos"
    password_env: str = Field("ONOS_PASSWORD", pattern=r"^[A-Z][A-Z0-9_]*$")
    """Name of the environment variable with the password; the password itself is in no file."""
    openflow_host: str = Field(pattern=r"^[^\s/]+$")
    """Where it takes switches, as seen from this machine."""
    openflow_port: int = Field(6653, ge=1, le=65535)
    application: str = Field("org.nfvbed.steering", pattern=r"^[\w.-]+$")
    """The application id that its flow rules get."""
