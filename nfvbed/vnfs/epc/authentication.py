"""A SIM's computations for its authentication: Milenage (TS 35.206) and the key hierarchy of TS 33.401."""

import hmac
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

_BLOCK = 16
_C = {"f1": 0, "f2": 1, "f3": 2, "f4": 4, "f5*": 8}
"""Constants c1 to c5 of TS 35.206, 4.1."""
_R = {"f1": 64, "f2": 0, "f3": 32, "f4": 64, "f5*": 96}
"""Rotations r1 to r5, in bits."""
_FC_KASME, _FC_ALGORITHM = 0x10, 0x15
_INTEGRITY = 2
"""Algorithm type distinguisher NAS-int-alg."""
EIA2 = 2
UPLINK, DOWNLINK = 0, 1


@dataclass(frozen=True)
class Milenage:
    """The functions f1 to f5 with one SIM's keys."""

    key: bytes
    opc: bytes

    def mac(self, rand: bytes, sqn: bytes, amf: bytes) -> bytes:
        """Return f1: the proof that the network knows the key (MAC-A, 8 bytes)."""
        block = (sqn + amf) * 2
        rotated = _rotate(_xor(block, self.opc), _R["f1"])
        return self._last(_xor(self._temp(rand), rotated), _C["f1"])[:8]

    def response(self, rand: bytes) -> bytes:
        """Return f2: the answer (RES, 8 bytes)."""
        return self._out(rand, "f2")[8:]

    def anonymity_key(self, rand: bytes) -> bytes:
        """Return f5: the key that hides the sequence number (AK, 6 bytes)."""
        return self._out(rand, "f2")[:6]

    def cipher_key(self, rand: bytes) -> bytes:
        """Return f3: CK."""
        return self._out(rand, "f3")

    def integrity_key(self, rand: bytes) -> bytes:
        """Return f4: IK."""
        return self._out(rand, "f4")

    def resynchronisation_key(self, rand: bytes) -> bytes:
        """Return f5*: the key that hides the sequence number of a SIM that is ahead (AK, 6 bytes)."""
        return self._out(rand, "f5*")[:6]

    def _out(self, rand: bytes, function: str) -> bytes:
        return self._last(_rotate(_xor(self._temp(rand), self.opc), _R[function]), _C[function])

    def _temp(self, rand: bytes) -> bytes:
        return self._encrypt(_xor(rand, self.opc))

    def _last(self, block: bytes, constant: int) -> bytes:
        return _xor(self._encrypt(_xor(block, constant.to_bytes(_BLOCK, "big"))), self.opc)

    def _encrypt(self, block: bytes) -> bytes:
        # One block: Milenage is defined on the cipher itself, no mode is involved.
        encryptor = Cipher(algorithms.AES(self.key), modes.ECB()).encryptor()
        return encryptor.update(block) + encryptor.finalize()


def kasme(ck: bytes, ik: bytes, plmn: bytes, concealed_sqn: bytes) -> bytes:
    """Return the key of the access network's management entity (TS 33.401, A.2).

    Args:
        ck: result of f3.
        ik: result of f4.
        plmn: the serving network, 3 bytes.
        concealed_sqn: SQN xor AK, the first 6 bytes of AUTN.
    """
    return _derive(ck + ik, _FC_KASME, (plmn, concealed_sqn))


def nas_integrity_key(from_kasme: bytes, algorithm: int) -> bytes:
    """Return the key that signs signalling (TS 33.401, A.7): the lower half."""
    return _derive(from_kasme, _FC_ALGORITHM, (bytes([_INTEGRITY]), bytes([algorithm])))[16:]


def eia2(key: bytes, count: int, direction: int, message: bytes) -> bytes:
    """Return a message's signature (128-EIA2, TS 33.401 B.2.3): AES-CMAC, its first 4 bytes; bearer 0 is signalling."""
    mac = CMAC(algorithms.AES(key))
    mac.update(count.to_bytes(4, "big") + bytes([direction << 2, 0, 0, 0]) + message)
    return mac.finalize()[:4]


def opc_of(key: bytes, op: bytes) -> bytes:
    """Return OPc, which a SIM has in place of the operator's OP (TS 35.206, 4.1)."""
    return _xor(Milenage(key, bytes(_BLOCK))._encrypt(op), op)


def _derive(key: bytes, function: int, parameters: tuple[bytes, ...]) -> bytes:
    parts = b"".join(value + len(value).to_bytes(2, "big") for value in parameters)
    return hmac.digest(key, bytes([function]) + parts, "sha256")


def _rotate(block: bytes, bits: int) -> bytes:
    return block[bits // 8 :] + block[: bits // 8]


def _xor(first: bytes, second: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(first, second, strict=True))
