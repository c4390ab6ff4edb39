"""Which options of a variant have a setting in a cloud, and which are refused: none is ignored silently."""

from nfvbed.errors import UnsupportedError
from nfvbed.sites.kolla.pinning import plane_of
from nfvbed.spec.variant import Variant

OF_THE_LAB = frozenset({"dataplane", "core_use"})
"""Options about ports that the lab alone has."""


def check_options(variant: Variant) -> None:
    """Make sure that a cloud has settings for a variant's options.

    Raises:
        UnsupportedError: an option has another value than its default, and Neutron and Nova have no such setting.
    """
    options = variant.options
    fields = type(options).model_fields
    known = plane_of(variant).options | OF_THE_LAB
    changed = {
        name: getattr(options, name)
        for name, field in fields.items()
        if name not in known and getattr(options, name) != field.get_default(call_default_factory=True)
    }
    if changed:
        raise UnsupportedError(
            f"variant {variant.name} has options that a cloud does not have",
            where=f"deploy/variants/{variant.name}.yml options",
            observed=", ".join(f"{name}: {value}" for name, value in changed.items()),
            fix=f"another variant of {options.dataplane}; on a cloud Neutron and Nova decide about these",
        )
