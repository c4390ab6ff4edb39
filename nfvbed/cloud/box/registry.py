"""The registry of a box: Debian's docker-registry on the switch, over a folder of images that was filled before."""

import json
import urllib.request
from pathlib import Path

from nfvbed.cloud.box.layout import REGISTRY_PORT, BoxLayout
from nfvbed.errors import DeployError
from nfvbed.host.network.namespaces import inside

IMAGES = "srv/images"
"""The folder of images on the switch. The storage in it is another one after images were built again."""
_STORAGE = f"/{IMAGES}/storage"
_AS_ROOT = "[Service]\nUser=root\n"
"""Images are below a folder of their owner's alone."""
_CONFIGURATION = Path("etc/docker/registry/config.yml")
_OF_UNIT = Path("etc/systemd/system/docker-registry.service.d/box.conf")
_ANSWER_S = 10.0
_MOST = 1000
"""Repositories that are asked for: a cloud has fewer than a hundred."""


def furnish(layer: Path) -> None:
    """Write the registry's configuration into the switch's layer."""
    path, unit = layer / _CONFIGURATION, layer / _OF_UNIT
    for folder in (path.parent, unit.parent):
        folder.mkdir(parents=True, exist_ok=True)
    unit.write_text(_AS_ROOT)
    path.write_text(
        "version: 0.1\n"
        f"storage: {{filesystem: {{rootdirectory: {_STORAGE}}}, cache: {{blobdescriptor: inmemory}}}}\n"
        f'http: {{addr: ":{REGISTRY_PORT}"}}\n'
    )


def repositories(layout: BoxLayout, switch: str) -> tuple[str, ...]:
    """Return the names of the images' repositories that the registry serves.

    Args:
        switch: path of the switch's network namespace.

    Raises:
        DeployError: it does not answer.
    """
    address = f"http://{layout.registry}/v2/_catalog?n={_MOST}"

    def ask() -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=_ANSWER_S) as answer:
            text: bytes = answer.read()
        return text

    try:
        found: list[str] = json.loads(inside(switch, ask))["repositories"]
    except (OSError, ValueError, KeyError) as failure:
        raise DeployError(
            f"the registry of box {layout.site} does not answer",
            where=address,
            observed=str(failure),
            fix=f"nfvbed rack logs --site {layout.site} switch docker-registry",
        ) from failure
    return tuple(found or ())
