"""The network that a mobile core serves: its code, its tracking area, and the network that UEs reach through it."""

from pydantic import Field

from nfvbed.spec.model import SpecModel

_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"


class CoreNetwork(SpecModel):
    """The network that one mobile core serves."""

    plmn: str = Field("00101", pattern=r"^[0-9]{5,6}$")
    """Mobile country code of three digits, and network code of two or three (ITU-T E.212); 001-01 is a test network."""
    tac: int = Field(1, ge=1, le=0xFFFD)
    """Tracking area code; 0 and 65534 are reserved (TS 23.003, 19.4.2.3)."""
    apn: str = Field("internet", pattern=rf"^{_LABEL}(\.{_LABEL})*$", max_length=63)
    """Access point name: labels as of host names, with dots (TS 23.003, 9.1)."""

    @property
    def mcc(self) -> str:
        """Mobile country code."""
        return self.plmn[:3]

    @property
    def mnc(self) -> str:
        """Mobile network code; `01` and `001` are two of them."""
        return self.plmn[3:]

    @property
    def plmn_bytes(self) -> bytes:
        """The code as S1AP has it (TS 36.413, 9.2.3.8): its digits two to an octet, the later one first; where the
        network code has two, F before them.

        NAS (TS 24.301, 9.9.3.32) orders the digits of a code of three otherwise. nextepc takes S1AP's octets for both,
        also for K_ASME, and so do its UEs here.
        """
        digits = self.mcc + self.mnc.rjust(3, "f")
        return bytes.fromhex("".join(digits[place + 1] + digits[place] for place in range(0, 6, 2)))


def apn_bytes(apn: str) -> bytes:
    """Return an access point name as it is on the wire: each label after its length."""
    return b"".join(bytes([len(label)]) + label.encode() for label in apn.split("."))


DEFAULT_NETWORK = CoreNetwork()
"""What a core serves whose file says nothing of it, and what the image of guests has."""
SETTINGS = {"plmn": ("mme", "plmn"), "tac": ("mme", "tac"), "apn": ("hss", "apn")}
"""Where `vnf.yml` says it: the machine, and the key of its `config`."""
READ = {
    "ue-enb": ("server", "bearers"),
    "mme": ("plmn", "tac"),
    "hss": ("apn",),
    "pgw": ("ue-pool", "sgw"),
    "igw": ("ue-pool",),
}
"""All keys of `config` that a mobile core reads, by machine."""
