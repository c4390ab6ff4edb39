"""An emulated UE: its answers to the MME until it is attached, and until it is detached."""

from enum import StrEnum
from ipaddress import IPv4Address

from nfvbed.spec.corenetwork import DEFAULT_NETWORK, CoreNetwork, apn_bytes
from nfvbed.vnfs.epc import nas
from nfvbed.vnfs.epc.authentication import Milenage, kasme, nas_integrity_key
from nfvbed.vnfs.epc.subscribers import Subscriber

_SQN = 6


class UeState(StrEnum):
    """The progress of a UE."""

    DETACHED = "detached"
    ATTACHING = "attaching"
    ATTACHED = "attached"
    DETACHING = "detaching"
    REJECTED = "rejected"


class Ue:
    """One UE with its SIM.

    Args:
        network: network to which it attaches.
    """

    def __init__(self, subscriber: Subscriber, network: CoreNetwork = DEFAULT_NETWORK) -> None:
        self.subscriber = subscriber
        self._network = network
        self.state = UeState.DETACHED
        self.failure = ""
        """Why it is rejected."""
        self.address: IPv4Address | None = None
        self._sim = Milenage(bytes.fromhex(subscriber.key), bytes.fromhex(subscriber.opc))
        self._kasme = b""
        self._security: nas.Security | None = None
        self._guti = b""
        self._highest_sqn = -1

    def attach(self) -> bytes:
        """Return the message that begins an attach."""
        self.state, self.failure, self._security = UeState.ATTACHING, "", None
        return nas.attach_request(self.subscriber.imsi)

    def detach(self) -> bytes:
        """Return the message that begins a detach of an attached UE."""
        self.state = UeState.DETACHING
        return self._protected(nas.detach_request(self._guti))

    def receive(self, data: bytes) -> tuple[bytes, ...]:
        """Handle a message of the MME's; return the answers.

        Raises:
            MalformedMessage: it cannot be read, or is not signed as it must be.
        """
        message = nas.Downlink(data)
        if self._security is not None and message.security and not message.starts_context:
            self._require_signature(message)
        match message.name:
            case "EMMAuthenticationRequest":
                return self._authenticate(message)
            case "EMMSecurityModeCommand":
                return self._secure(message)
            case "ESMInformationRequest":
                return (self._protected(nas.network_wanted(message.transaction, apn_bytes(self.subscriber.apn))),)
            case "EMMAttachAccept":
                return self._accept(message)
            case "EMMAttachReject" | "EMMAuthenticationReject" | "EMMServiceReject" | "ESMPDNConnectivityReject":
                return self._reject(message)
            case "EMMDetachAccept":
                self.state = UeState.DETACHED
        return ()  # what else an MME tells (its name, the time of day) asks for no answer

    def _authenticate(self, message: nas.Downlink) -> tuple[bytes, ...]:
        rand, autn = message.challenge
        concealed, amf, mac = autn[:_SQN], autn[_SQN:8], autn[8:]
        anonymity = self._sim.anonymity_key(rand)
        sqn = bytes(a ^ b for a, b in zip(concealed, anonymity, strict=True))
        if self._sim.mac(rand, sqn, amf) != mac:
            self.failure = "the HSS has another key than the SIM (MAC failure)"
            return (nas.authentication_failure(nas.MAC_FAILURE),)
        if int.from_bytes(sqn, "big") <= self._highest_sqn:
            self.failure = "the HSS repeats a sequence number (synch failure)"
            return (nas.authentication_failure(nas.SYNCH_FAILURE),)
        self._highest_sqn = int.from_bytes(sqn, "big")
        keys = self._sim.cipher_key(rand), self._sim.integrity_key(rand)
        self._kasme = kasme(*keys, self._network.plmn_bytes, concealed)
        return (nas.authentication_response(self._sim.response(rand)),)

    def _secure(self, message: nas.Downlink) -> tuple[bytes, ...]:
        algorithm = message.integrity_algorithm
        if not nas.supported(algorithm) or not self._kasme:
            raise nas.MalformedMessage("NAS", f"a security mode command for integrity algorithm {algorithm}")
        self._security = nas.Security(nas_integrity_key(self._kasme, algorithm))
        self._require_signature(message)
        return (self._security.protect(nas.security_mode_complete(), completes=True),)

    def _accept(self, message: nas.Downlink) -> tuple[bytes, ...]:
        bearer, self.address, self._guti = message.bearer
        self.state = UeState.ATTACHED
        return (self._protected(nas.attach_complete(bearer)),)

    def _reject(self, message: nas.Downlink) -> tuple[bytes, ...]:
        self.state = UeState.REJECTED
        # An authentication reject gives no cause, and follows what the UE has found wrong.
        self.failure = self.failure or ("not authenticated" if "Authentication" in message.name else message.cause)
        return ()

    def _protected(self, message: bytes) -> bytes:
        if self._security is None:
            raise nas.MalformedMessage("NAS", "the MME goes on before it has started security")
        return self._security.protect(message)

    def _require_signature(self, message: nas.Downlink) -> None:
        if self._security is None or not self._security.signed(message.data):
            raise nas.MalformedMessage("NAS", f"{message.name} is not signed with the UE's key")
