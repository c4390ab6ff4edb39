"""Signed packages: of keys made here, and of ONAP's tests."""

import base64
import datetime
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.hazmat.primitives.serialization.pkcs7 import PKCS7Options, PKCS7SignatureBuilder
from cryptography.x509.oid import NameOID

from nfvbed.vnfs.descriptors import cms, csar, descriptorfile, sol
from nfvbed.vnfs.descriptors.manifest import META
from nfvbed.vnfs.descriptors.signature import TrustedCertificates, read_trust
from tests.refusals import misconfigured
from tests.unit.vnfs.descriptors.requests import request

RECORDED = Path(__file__).parent / "recorded"
MANIFEST = "vloop.mf"
DETACHED = [PKCS7Options.DetachedSignature, PKCS7Options.Binary]


@dataclass(frozen=True)
class Vendor:
    """A signer, with a certificate of an authority or of its own."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def named(cls, name, authority=None):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.UTC)
        made = x509.CertificateBuilder().subject_name(subject).public_key(key.public_key())
        made = made.issuer_name(authority.certificate.subject if authority else subject)
        made = made.serial_number(x509.random_serial_number())
        made = made.not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
        made = made.add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        return cls(key, made.sign(authority.key if authority else key, hashes.SHA256()))

    @property
    def pem(self):
        return self.certificate.public_bytes(Encoding.PEM)

    def signed(self, content, *, with_certificate=True, encoding="CMS"):
        options = DETACHED if with_certificate else [*DETACHED, PKCS7Options.NoCerts]
        builder = PKCS7SignatureBuilder().set_data(content)
        der = builder.add_signer(self.certificate, self.key, hashes.SHA256()).sign(Encoding.DER, options)
        if encoding == "DER":
            return der
        return b"-----BEGIN CMS-----\n" + base64.encodebytes(der) + b"-----END CMS-----\n"


@pytest.fixture(scope="module")
def vendor():
    return Vendor.named("vendor")


def of(tmp_path, members, name="signed.csar"):
    path = tmp_path / name
    path.write_bytes(csar.write(members))
    return path


def package(vendor, **options):
    members = sol.files(request())
    members[MANIFEST] += b"\n"
    members[MANIFEST] += vendor.signed(members[MANIFEST], **options)
    return members


def test_signed_manifest_is_verified_and_its_signer_told(tmp_path, vendor):
    path = of(tmp_path, package(vendor))
    found = csar.read(path)
    assert (found.signer.subject, found.signer.is_trusted) == ("CN=vendor", False)
    assert "--trusted FILE" in descriptorfile.signed_line(found)
    assert "signed by CN=vendor" in descriptorfile.read(descriptorfile.DescriptorFile(path, "x")).notes[-1]


def test_own_package_is_not_signed(tmp_path):
    found = csar.read(of(tmp_path, sol.files(request())))
    assert found.signer is None
    assert descriptorfile.signed_line(found) == "not signed"


@pytest.mark.parametrize("trusts", ["the signer", "the authority"])
def test_trusted_signer_is_told_as_such(tmp_path, trusts):
    authority = Vendor.named("authority")
    vendor = Vendor.named("vendor", authority)
    trusted = vendor if trusts == "the signer" else authority
    assert csar.read(of(tmp_path, package(vendor)), TrustedCertificates((trusted.pem,))).signer.is_trusted


def test_signer_who_is_not_trusted_is_refused(tmp_path, vendor):
    path = of(tmp_path, package(vendor))
    other = tmp_path / "other.pem"
    other.write_bytes(Vendor.named("other").pem)
    found = misconfigured(lambda: csar.read(path, read_trust([other])), where=f"{path}!{MANIFEST}:")
    assert "leads to none that is trusted" in found.observed
    assert "--trusted" in found.fix


def test_unsigned_package_is_refused_where_a_signer_is_asked_for(tmp_path, vendor):
    path = of(tmp_path, sol.files(request()))
    misconfigured(lambda: csar.read(path, TrustedCertificates((vendor.pem,))), "is not signed", where=MANIFEST)


def test_changed_manifest_is_refused(tmp_path, vendor):
    members = package(vendor)
    members[MANIFEST] = members[MANIFEST].replace(b"vnf_package_version: 1.0", b"vnf_package_version: 1.1")
    found = misconfigured(lambda: csar.read(of(tmp_path, members)), where=f"!{MANIFEST}:")
    assert found.observed == "what was signed had another content"


def test_changed_member_is_refused_by_its_digest(tmp_path, vendor):
    members = package(vendor)
    members["UserData/lcm_user_data.py"] += b"import os\n"
    misconfigured(lambda: csar.read(of(tmp_path, members)), "has another hash than vloop.mf gives")


def test_member_that_was_added_is_refused(tmp_path, vendor):
    members = {**package(vendor), "Scripts/added.sh": b"#!/bin/sh\n"}
    misconfigured(lambda: csar.read(of(tmp_path, members)), "does not cover Scripts/added.sh", where=MANIFEST)


@pytest.mark.parametrize("place", ["vloop.cert", "Files/vendor.pem"])
def test_certificate_may_be_a_member_of_its_own(tmp_path, vendor, place):
    members = {**package(vendor, with_certificate=False), place: vendor.pem}
    if place.startswith("Files"):
        members[META] += f"ETSI-Entry-Certificate: {place}\n".encode()
    assert csar.read(of(tmp_path, members)).signer.subject == "CN=vendor"


def test_certificate_that_is_missing_is_refused(tmp_path, vendor):
    members = package(vendor, with_certificate=False)
    found = misconfigured(lambda: csar.read(of(tmp_path, members)), "is not right")
    assert found.observed == "the certificate of its signer is neither in it nor in the package"
    members[META] += b"ETSI-Entry-Certificate: none.cert\n"
    misconfigured(lambda: csar.read(of(tmp_path, members)), "the certificate is not in", where=META)


def test_certificate_of_another_is_refused(tmp_path, vendor):
    members = {**package(vendor, with_certificate=False), "vloop.cert": Vendor.named("vendor").pem}
    misconfigured(lambda: csar.read(of(tmp_path, members)), "is not right", where=MANIFEST)


@pytest.mark.parametrize(
    ("change", "observed"),
    [
        ((b"-----END CMS-----", b""), "it has no end"),
        ((b"-----END CMS-----\n", b"-----END CMS-----\nSource: x\n"), "something else is in it, or follows it"),
    ],
)
def test_malformed_signature_is_refused(tmp_path, vendor, change, observed):
    members = package(vendor)
    members[MANIFEST] = members[MANIFEST].replace(*change)
    assert misconfigured(lambda: csar.read(of(tmp_path, members)), where=MANIFEST).observed == observed


@pytest.mark.parametrize(("encoding", "right"), [("CMS", True), ("DER", True), ("DER", False)])
def test_artifact_with_a_signature_of_its_own(tmp_path, vendor, encoding, right):
    members = sol.files(request())
    name = "UserData/lcm_user_data.py"
    members["script.cms"] = vendor.signed(members[name] if right else b"another", encoding=encoding)
    source = f"Source: {name}\n".encode()
    members[MANIFEST] = members[MANIFEST].replace(source, source + b"Signature: script.cms\n")
    path = of(tmp_path, members)
    if right:
        assert name in csar.read(path).hashed
    else:
        misconfigured(lambda: csar.read(path), "is not right", "another content", where="script.cms")


def whole(tmp_path, vendor, inner, *, signed=None):
    """Write a zip archive with a package and its signature (option 2)."""
    return of(
        tmp_path,
        {"vloop.csar": inner, "vloop.cms": vendor.signed(signed or inner), "vloop.cert": vendor.pem},
        "signed.zip",
    )


def test_package_that_is_signed_whole_is_read_from_within(tmp_path, vendor):
    inner = csar.write(sol.files(request()))
    path = whole(tmp_path, vendor, inner)
    found = csar.read(path, TrustedCertificates((vendor.pem,)))
    assert found.signer.is_trusted
    assert found.entry == "Definitions/vloop.yaml"
    assert found.archive.where("x") == f"{path}!vloop.csar!x"
    with zipfile.ZipFile(io.BytesIO(descriptorfile.package(found, "owner"))) as uploaded:
        assert META in uploaded.namelist()


def test_package_that_was_changed_after_it_was_signed_whole_is_refused(tmp_path, vendor):
    inner = csar.write(sol.files(request()))
    path = whole(tmp_path, vendor, inner, signed=inner + b"x")
    misconfigured(lambda: csar.read(path), "is not right", "another content", where="vloop.cms")


def test_manifest_that_onap_signed_is_verified(tmp_path):
    content, begin, rest = (RECORDED / "onap-signed.mf").read_bytes().partition(b"-----BEGIN CMS-----")
    file = tmp_path / "signed"
    file.write_bytes(content)
    assert cms.verify(file, begin + rest).subject == "O=Internet Widgits Pty Ltd,ST=Some-State,C=AU"
    file.write_bytes(content.replace(b"Acme", b"Acne"))
    with pytest.raises(cms.SignatureRefused, match="another content"):
        cms.verify(file, begin + rest)
    file.write_bytes(content)
    with pytest.raises(cms.SignatureRefused, match="leads to none that is trusted"):
        cms.verify(file, begin + rest, trusted=[Vendor.named("other").pem])


def test_file_that_is_no_certificate_is_refused(tmp_path):
    file = tmp_path / "key.pem"
    file.write_text("-----BEGIN PUBLIC KEY-----\n")
    misconfigured(lambda: read_trust([file]), "this is no certificate", where=str(file))
