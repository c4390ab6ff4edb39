"""The question before a whole cloud is taken down: its site's name is typed, in a terminal or on a page."""

from nfvbed.errors import UsageError


def require_confirmed(site: str, given: str | None, fix: str) -> None:
    """Make sure that this site was meant.

    Args:
        given: what was typed, or given with --yes; None: nothing could be typed.
        fix: how its name is given there.

    Raises:
        UsageError: it is not the site's name.
    """
    if given == site:
        return
    raise UsageError(
        f"site {site} is not taken down: that was not confirmed",
        where="its instances, volumes and images are gone with it",
        observed="there is no terminal to type the site's name on" if given is None else f"{given[:60]!r}",
        fix=fix,
    )
