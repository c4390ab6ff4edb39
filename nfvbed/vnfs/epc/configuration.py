"""The configuration of each of nextepc's functions, rendered as YAML."""

from collections.abc import Iterable
from pathlib import Path

import yaml

from nfvbed.vnfs.epc import network
from nfvbed.vnfs.epc.subscribers import PLMN

ORDER = ("hss", "pcrf", "sgw", "pgw", "mme")
"""In which they are started: each finds there what it asks when it starts."""
STORE_PORT = 27017
REALM = "nfvbed"
_MCC, _MNC = PLMN[:3], PLMN[3:]
_EXTENSIONS = ("dict_rfc5777", "dict_mip6i", "dict_nasreq", "dict_nas_mipv6", "dict_dcca", "dict_dcca_3gpp")
_S6A = "dict_s6a"
_PEERS = {
    "mme": ("hss", network.HSS),
    "hss": ("mme", network.MME),
    "pgw": ("pcrf", network.PCRF),
    "pcrf": ("pgw", network.PGW),
}
"""Who speaks Diameter with whom: S6a and Gx."""


def rendered(function: str, libraries: Path, log: Path) -> str:
    """Return a function's configuration.

    Args:
        function: one of `ORDER`.
        libraries: folder of nextepc's, which has freeDiameter's extensions.
        log: where it writes.
    """
    document: dict[str, object] = {"logger": {"file": str(log)}, "parameter": {"no_ipv6": True}}
    if function in ("hss", "pcrf"):
        document["db_uri"] = f"mongodb://{network.STORE}:{STORE_PORT}/nextepc"
    document[function] = _diameter(function, libraries) | _own(function)
    if function == "mme":
        document["sgw"] = {"gtpc": [{"addr": network.SGW}]}
        document["pgw"] = {"gtpc": [{"addr": network.PGW}]}
    return str(yaml.safe_dump(document, sort_keys=False))


def _own(function: str) -> dict[str, object]:
    match function:
        case "mme":
            plmn = {"mcc": _MCC, "mnc": _MNC}
            return {
                "s1ap": [{"addr": network.MME}],
                "gtpc": [{"addr": network.MME}],
                "gummei": {"plmn_id": plmn, "mme_gid": 2, "mme_code": 1},
                "tai": {"plmn_id": dict(plmn), "tac": 1},
                "security": {"integrity_order": ["EIA2"], "ciphering_order": ["EEA0"]},
                "network_name": {"full": "nfvbed"},
            }
        case "sgw":
            return {"gtpc": [{"addr": network.SGW}], "gtpu": [{"addr": str(network.SGW_S1U)}]}
        case "pgw":
            pool = {"addr": f"{network.UE_GATEWAY}/{network.UES.prefixlen}", "dev": network.TUN}
            return {
                "gtpc": [{"addr": network.PGW}],
                "gtpu": [{"addr": network.PGW_S5}],
                "ue_pool": [pool],
                "dns": [str(network.SERVER)],
            }
    return {}


def _diameter(function: str, libraries: Path) -> dict[str, object]:
    if function not in _PEERS:
        return {}
    peer, address = _PEERS[function]
    names: Iterable[str] = (*_EXTENSIONS, _S6A) if "hss" in (function, peer) else _EXTENSIONS
    settings = {
        "identity": f"{function}.{REALM}",
        "realm": REALM,
        "no_sctp": True,
        "listen_on": network.FUNCTIONS[function],
        "load_extension": [{"module": str(libraries / "freeDiameter" / f"{name}.so")} for name in names],
        "connect": [{"identity": f"{peer}.{REALM}", "addr": address}],
    }
    return {"freeDiameter": settings}
