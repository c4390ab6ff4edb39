"""What the panel shows in place of what it could not get."""


class Trouble(Exception):
    """Something could not be read; shown on the page, which is otherwise as usual.

    Args:
        what: failed.
        observed: what was seen; empty: nothing more.
        fix: what to do.
    """

    def __init__(self, what: str, observed: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.observed = observed
        self.fix = fix
