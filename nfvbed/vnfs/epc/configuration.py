"""The configuration of each of nextepc's functions, rendered as YAML."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from nfvbed.spec.corenetwork import DEFAULT_NETWORK, CoreNetwork

ORDER = ("hss", "pcrf", "sgw", "pgw", "mme")
"""In which they are started: each finds there what it asks when it starts."""
_STARTED, _DIAMETER = "NextEPC daemon start", "CONNECTED TO"
SAYS_WHEN_UP = {"hss": _STARTED, "pcrf": _STARTED, "sgw": _STARTED, "pgw": _DIAMETER, "mme": _DIAMETER}
"""What a function writes into its log when it has come up: that of a Diameter client, when its peer has answered."""
STORE_PORT = 27017
DIAMETER_PORT = 3868
REALM = "nfvbed"
IDENTITIES = {function: f"{function}.{REALM}" for function in ("hss", "pcrf", "mme", "pgw")}
"""By which Diameter's peers know each other."""
_EXTENSIONS = ("dict_rfc5777", "dict_mip6i", "dict_nasreq", "dict_nas_mipv6", "dict_dcca", "dict_dcca_3gpp")
_S6A = "dict_s6a"
_PEERS = {"mme": "hss", "hss": "mme", "pgw": "pcrf", "pcrf": "pgw"}
"""Who speaks Diameter with whom: S6a and Gx."""


@dataclass(frozen=True)
class Addresses:
    """The addresses of the functions."""

    store: str
    diameter: dict[str, str]
    """Addresses of HSS, PCRF, MME and PGW, on S6a and Gx."""
    gtpc: dict[str, str]
    """Addresses of MME, SGW and PGW, on S11 and S5-C."""
    gtpu: dict[str, str]
    """Addresses of SGW and PGW, on S1-U and S5-U."""
    s1ap: str
    """Address of the MME on S1-MME."""
    ues: str
    """The UEs' network, as the PDN gateway's address in it with the prefix length."""
    tun: str
    """Device of the PDN gateway behind which UEs are."""
    dns: str
    """Name server that UEs get."""


@dataclass(frozen=True)
class NextepcPaths:
    """The places that nextepc is read from, and writes to."""

    libraries: Path
    """Folder of its own libraries, which has freeDiameter's extensions."""
    log: Path
    """File that the function writes into."""


def rendered(
    function: str, installed: NextepcPaths, addresses: Addresses, network: CoreNetwork = DEFAULT_NETWORK
) -> str:
    """Return a function's configuration.

    Args:
        function: one of `ORDER`.
        installed: the places of its libraries and log.
    """
    document: dict[str, object] = {"logger": {"file": str(installed.log)}, "parameter": {"no_ipv6": True}}
    if function in ("hss", "pcrf"):
        document["db_uri"] = f"mongodb://{addresses.store}:{STORE_PORT}/nextepc"
    document[function] = _diameter(function, installed.libraries, addresses) | _own(function, addresses, network)
    if function == "mme":
        document["sgw"] = {"gtpc": [{"addr": addresses.gtpc["sgw"]}]}
        document["pgw"] = {"gtpc": [{"addr": addresses.gtpc["pgw"]}]}
    return str(yaml.safe_dump(document, sort_keys=False))


def _own(function: str, addresses: Addresses, network: CoreNetwork) -> dict[str, object]:
    match function:
        case "mme":
            plmn = {"mcc": network.mcc, "mnc": network.mnc}
            return {
                "s1ap": [{"addr": addresses.s1ap}],
                "gtpc": [{"addr": addresses.gtpc["mme"]}],
                "gummei": {"plmn_id": plmn, "mme_gid": 2, "mme_code": 1},
                "tai": {"plmn_id": dict(plmn), "tac": network.tac},
                "security": {"integrity_order": ["EIA2"], "ciphering_order": ["EEA0"]},
                "network_name": {"full": "nfvbed"},
            }
        case "sgw":
            return {"gtpc": [{"addr": addresses.gtpc["sgw"]}], "gtpu": [{"addr": addresses.gtpu["sgw"]}]}
        case "pgw":
            return {
                "gtpc": [{"addr": addresses.gtpc["pgw"]}],
                "gtpu": [{"addr": addresses.gtpu["pgw"]}],
                "ue_pool": [{"addr": addresses.ues, "dev": addresses.tun}],
                "dns": [addresses.dns],
            }
    return {}


def _diameter(function: str, libraries: Path, addresses: Addresses) -> dict[str, object]:
    if function not in _PEERS:
        return {}
    peer = _PEERS[function]
    names: Iterable[str] = (*_EXTENSIONS, _S6A) if "hss" in (function, peer) else _EXTENSIONS
    settings = {
        "identity": IDENTITIES[function],
        "realm": REALM,
        "no_sctp": True,
        "listen_on": addresses.diameter[function],
        "load_extension": [{"module": str(libraries / "freeDiameter" / f"{name}.so")} for name in names],
        "connect": [{"identity": IDENTITIES[peer], "addr": addresses.diameter[peer]}],
    }
    return {"freeDiameter": settings}
