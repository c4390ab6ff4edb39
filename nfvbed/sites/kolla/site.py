"""The site of machines that kolla-ansible deploys, as far as there is one."""

from pathlib import Path
from typing import Never

from nfvbed.errors import UnsupportedError
from nfvbed.spec.site import KollaSiteSpec


def open_site(spec: KollaSiteSpec, root: Path) -> Never:
    """Say what there is of it.

    Raises:
        UnsupportedError: always; nothing is deployed on such a site yet.
    """
    raise UnsupportedError(
        "nothing is deployed on a site of kind kolla yet: what kolla-ansible takes is rendered",
        where=f"deploy/sites/{spec.name}.yml",
        observed=f"machines: {', '.join(spec.hosts)}",
        fix=f"nfvbed kolla render VARIANT --site {spec.name} --output DIR; then docs/howto/kolla.md",
    )
