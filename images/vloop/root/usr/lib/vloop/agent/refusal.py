"""Why a request cannot be done, in the four parts of nfvbed's own errors."""


class Refusal(Exception):
    """Answered as `error`; the agent goes on."""

    def __init__(self, what: str, *, where: str = "", observed: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.document = {"what": what, "where": where, "observed": observed, "fix": fix}
