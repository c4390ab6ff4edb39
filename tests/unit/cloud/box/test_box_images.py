"""What is read of Kolla's Dockerfiles, and the storage of a registry that is written of it."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.cloud.box.images.build import BoxImages, adapted
from nfvbed.cloud.box.images.dockerfiles import Dockerfiles, ImageFile, User, commands, pairs
from nfvbed.cloud.box.images.finish import clean, finish
from nfvbed.cloud.box.images.layer import pack
from nfvbed.cloud.box.images.places import ImagePlaces
from nfvbed.cloud.box.images.record import ImageRecord
from nfvbed.cloud.box.images.registry import MANIFEST, Storage, small_layer
from nfvbed.cloud.box.images.root import unpack_argv, user_files
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import InternalError, PrerequisiteError

# As Kolla 22.2.0 renders them for Debian, cut short.
BASE = r"""FROM debian:trixie
LABEL maintainer="Kolla Project (https://launchpad.net/kolla)" name="base" build-date="20261127"
COPY curlrc /root/.curlrc
ENV LANG en_US.UTF-8
ENV KOLLA_BASE_DISTRO=debian \
    KOLLA_BASE_ARCH=x86_64
ENV PS1="$(tput bold)($(printenv KOLLA_SERVICE_NAME))$ "
# COPY never /etc/never
COPY sources.list /etc/apt/sources.list.d/kolla-custom.list
RUN apt-get -y install sudo && groupadd --gid 42400 kolla \
    && useradd -l -M --shell /usr/sbin/nologin --uid 42400 --gid 42400 kolla \
    && groupadd --gid 42436 nova \
    && useradd -l -M --shell /usr/sbin/nologin --uid 42436 --gid 42436 nova
COPY start.sh /usr/local/bin/kolla_start
COPY sudoers /etc/sudoers
ENTRYPOINT ["dumb-init", "--single-child", "--"]
COPY healthcheck_curl healthcheck_port /usr/local/bin/
RUN chmod 755 /usr/local/bin/healthcheck_*
RUN touch /usr/local/bin/kolla_extend_start \
    && chmod 755 /usr/local/bin/kolla_start \
    && chmod 440 /etc/sudoers
CMD ["kolla_start"]
"""
OPENSTACK = "FROM kolla/base:t\nENV PATH /var/lib/kolla/venv/bin:$PATH\nADD plugins-archive /\n"
NOVA = r"""FROM kolla/openstack-base:t
LABEL name="nova-api" build-date="20261127"
RUN usermod --append --home /var/lib/nova --groups kolla nova \
    && mkdir -p /var/lib/nova && chsh --shell /bin/bash nova
COPY nova_sudoers /etc/sudoers.d/kolla_nova_sudoers
RUN ln -s nova-base-source/* nova && if [ "$(ls /plugins)" ]; then python3 -m pip install /plugins/*; fi \
    && chmod 440 /etc/sudoers.d/kolla_nova_sudoers && touch /usr/local/bin/kolla_nova_extend_start
USER nova
"""
SWITCH = """FROM kolla/base:t
RUN update-alternatives --set ovs-vswitchd /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk
ENTRYPOINT ["dumb-init", "--"]
CMD ["kolla_start"]
"""


@pytest.fixture
def dockerfiles(tmp_path: Path) -> Dockerfiles:
    files = {
        "base": (BASE, "curlrc", "sources.list", "start.sh", "sudoers", "healthcheck_curl", "healthcheck_port"),
        "openstack-base": (OPENSTACK,),
        "nova/nova-api": (NOVA, "nova_sudoers"),
        "switch": (SWITCH,),
    }
    for name, (text, *others) in files.items():
        folder = tmp_path / "docker" / name
        folder.mkdir(parents=True)
        (folder / "Dockerfile").write_text(text)
        for other in others:
            (folder / other).write_text(f"{other}\n")
    return Dockerfiles(tmp_path)


def test_an_image_has_what_those_before_it_have(dockerfiles: Dockerfiles) -> None:
    assert [folder.name for folder in dockerfiles.chain("nova-api")] == ["base", "openstack-base", "nova-api"]
    image = dockerfiles.image("nova-api")
    assert (image.user, image.entrypoint, image.command) == (
        "nova",
        ("dumb-init", "--single-child", "--"),
        ("kolla_start",),
    )
    assert image.environment["PATH"].startswith("/var/lib/kolla/venv/bin:/usr/local/sbin:")
    assert image.environment["LANG"] == "en_US.UTF-8"
    assert image.environment["PS1"] == "$(tput bold)($(printenv KOLLA_SERVICE_NAME))$ "
    assert image.environment["KOLLA_BASE_ARCH"] == "x86_64"
    assert image.labels["name"] == "nova-api"


def test_files_have_the_places_and_rights_of_the_dockerfiles(dockerfiles: Dockerfiles) -> None:
    files = dockerfiles.image("nova-api").files
    assert {path: file.mode for path, file in files.items()} == {
        "/root/.curlrc": 0o644,
        "/usr/local/bin/kolla_start": 0o755,
        "/etc/sudoers": 0o440,
        "/usr/local/bin/healthcheck_curl": 0o755,
        "/usr/local/bin/healthcheck_port": 0o755,
        "/usr/local/bin/kolla_extend_start": 0o644,
        "/etc/sudoers.d/kolla_nova_sudoers": 0o440,
        "/usr/local/bin/kolla_nova_extend_start": 0o644,
    }
    assert files["/usr/local/bin/kolla_start"].content == b"start.sh\n"
    assert files["/usr/local/bin/kolla_nova_extend_start"].content == b""


def test_a_switch_is_chosen_in_the_image_that_wants_it(dockerfiles: Dockerfiles) -> None:
    image = dockerfiles.image("switch")
    assert image.entrypoint == ("dumb-init", "--")
    assert image.links == {"/etc/alternatives/ovs-vswitchd": "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"}
    assert not dockerfiles.image("nova-api").links


def test_users_are_those_of_the_images(dockerfiles: Dockerfiles) -> None:
    users = dockerfiles.users(("nova-api",))
    files = user_files(users.values())
    assert files["passwd"] == (
        "kolla:x:42400:42400::/home/kolla:/usr/sbin/nologin\nnova:x:42436:42436::/var/lib/nova:/bin/bash\n"
    )
    assert files["group"] == "kolla:x:42400:nova\nnova:x:42436:\n"


def test_an_image_that_kolla_lacks_is_said(dockerfiles: Dockerfiles) -> None:
    with pytest.raises(PrerequisiteError, match="no image nova-metadata"):
        dockerfiles.image("nova-metadata")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("LANG en_US.UTF-8", {"LANG": "en_US.UTF-8"}),
        ("A=1 B='two words'", {"A": "1", "B": "two words"}),
        ("ANSIBLE_LIBRARY /usr/share/ansible:$ANSIBLE_LIBRARY", {"ANSIBLE_LIBRARY": "/usr/share/ansible"}),
        ("PATH ${HOME}/bin:$PATH", {"PATH": "/root/bin:/bin"}),
    ],
)
def test_variables_are_put_in(text: str, found: dict[str, str]) -> None:
    assert pairs(text, {"PATH": "/bin", "HOME": "/root"}) == found


def test_what_is_no_list_of_words_is_left_out() -> None:
    assert list(commands("touch /a && echo 'open && chmod 1 /b; chmod 2 /c")) == [["touch", "/a"], ["chmod", "1", "/b"]]


def test_built_images_say_that_they_are_ours(dockerfiles: Dockerfiles) -> None:
    image = adapted(dockerfiles.image("nova-api"))
    assert image.labels == {"name": "nova-api", "nfvbed.images": "ours"}
    assert image.environment["UWSGI_VIRTUALENV"] == "/var/lib/kolla/venv"
    assert "UWSGI_VIRTUALENV" not in adapted(dockerfiles.image("switch")).environment


def test_a_registry_finds_an_image_by_its_tag(dockerfiles: Dockerfiles, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    layer.write_bytes(b"a layer")
    storage = Storage(tmp_path / "storage")
    digest = f"sha256:{hashlib.sha256(b'a layer').hexdigest()}"
    shared = storage.add_layer(layer, digest, "sha256:" + "d" * 64)
    manifest_digest = storage.add_image("kolla/switch", "t", adapted(dockerfiles.image("switch")), shared)

    repository = tmp_path / "storage/docker/registry/v2/repositories/kolla/switch"
    assert (repository / "_manifests/tags/t/current/link").read_text() == manifest_digest
    bare = manifest_digest.removeprefix("sha256:")
    assert (repository / f"_manifests/revisions/sha256/{bare}/link").is_file()
    manifest = json.loads(storage.blob(manifest_digest).read_bytes())
    assert manifest["mediaType"] == MANIFEST
    assert manifest["annotations"]["nfvbed.images"] == "ours"
    for one in (manifest["config"], *manifest["layers"]):
        content = storage.blob(one["digest"]).read_bytes()
        assert (len(content), f"sha256:{hashlib.sha256(content).hexdigest()}") == (one["size"], one["digest"])
        assert (repository / "_layers/sha256" / one["digest"].removeprefix("sha256:") / "link").is_file()
    configured = json.loads(storage.blob(manifest["config"]["digest"]).read_bytes())
    assert configured["config"]["Labels"]["nfvbed.images"] == "ours"
    assert configured["rootfs"]["diff_ids"] == ["sha256:" + "d" * 64, manifest["layers"][1]["digest"]]
    with tarfile.open(fileobj=io.BytesIO(storage.blob(manifest["layers"][1]["digest"]).read_bytes())) as archive:
        assert archive.getmember("usr/local/bin/kolla_start").mode == 0o755
        assert archive.getmember("etc/alternatives/ovs-vswitchd").linkname.endswith("ovs-vswitchd-dpdk")


def test_a_small_layer_changes_no_folders_owner(dockerfiles: Dockerfiles) -> None:
    """A file in a home would make the home root's: Docker makes a layer's missing folders so."""
    image = dockerfiles.image("nova-api")
    files = {**image.files, "/var/lib/ansible/requirements.yml": ImageFile(b"", 0o644)}
    with tarfile.open(fileobj=io.BytesIO(small_layer(replace(image, files=files)))) as archive:
        folders = {one.name: (one.uid, one.mode) for one in archive.getmembers() if one.isdir()}
    assert folders["root"] == (0, 0o700) and folders["etc/sudoers.d"] == (0, 0o750)
    assert set(folders) == {"etc", "etc/sudoers.d", "root", "usr", "usr/local", "usr/local/bin"}
    with pytest.raises(InternalError, match="owner of /var/lib/nova"):
        small_layer(replace(image, files={"/var/lib/nova/file": ImageFile(b"", 0o644)}))


def test_a_layer_is_named_by_both_of_its_digests(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "proc" / "1").mkdir(parents=True)
    (root / "file").write_text("content")
    packed = pack(root, tmp_path / "layer.tar.zst")
    content = (tmp_path / "layer.tar.zst").read_bytes()
    assert packed.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert packed.size_bytes == len(content)
    assert not (tmp_path / "layer.tar.zst.new").exists()
    with pytest.raises(PrerequisiteError, match="cannot be packed"):
        pack(tmp_path / "none", tmp_path / "other.tar.zst")
    assert not (tmp_path / "other.tar.zst").exists()


class QuietTool(Tool):
    """A double of what runs programs: it remembers them."""

    def __init__(self) -> None:
        self.ran: list[list[str]] = []

    def run(
        self, name: str, argv: Sequence[str], timeout_s: float, environment: Mapping[str, str] | None = None
    ) -> str:
        """Remember a program, without the words that enter the root."""
        self.ran.append(list(argv)[list(argv).index("chroot") + 2 :])
        return ""


def test_a_root_is_finished_twice_alike(tmp_path: Path) -> None:
    for name in ("etc/pam.d", "etc/sudoers.d", "var/log/rabbitmq", "var/lib/mysql/data", "usr/sbin", "usr/bin", "proc"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "etc/pam.d/sshd").write_text("session    required     pam_loginuid.so\n")
    (tmp_path / "var/log/rabbitmq/startup_log").write_text("of the building")
    (tmp_path / "usr/sbin/tcpdump").write_text("")
    venv = tmp_path / "var/lib/kolla/venv/etc/nova"
    venv.mkdir(parents=True)
    (venv / "rootwrap.conf").write_text("[DEFAULT]\nexec_dirs=/sbin\n")
    users = [User(name, 1, os.getgid(), name, f"/var/lib/{name}", "/bin/sh") for name in ("kolla", "haproxy", "mysql")]
    users += [User("rabbitmq", 7, 8, "rabbitmq", "/var/lib/rabbitmq", "/bin/sh", {"kolla"})]
    tool = QuietTool()
    for _ in range(2):
        finish(tmp_path, tool, users)
        # RabbitMQ does not make its folder.
        assert (tmp_path / "var/log/rabbitmq").is_dir() and not list((tmp_path / "var/log/rabbitmq").iterdir())
        assert not list((tmp_path / "var/lib/mysql").iterdir())
        assert "optional     pam_loginuid" in (tmp_path / "etc/pam.d/sshd").read_text()
        assert "exec_dirs=/var/lib/kolla/venv/bin,/sbin" in (tmp_path / "etc/nova/rootwrap.conf").read_text()
        assert (tmp_path / "usr/bin/tcpdump").is_file()
    assert ["chown", "--recursive", "7:8", "/var/lib/rabbitmq"] in tool.ran
    half = len(tool.ran) // 2
    assert tool.ran[:half] == tool.ran[half:]


def test_packages_are_unpacked_with_kollas_users_and_no_service_started(tmp_path: Path) -> None:
    argv = unpack_argv(ImagePlaces.of(tmp_path), tmp_path / "root")
    assert "trixie" in argv
    assert any("openvswitch-switch-dpdk" in word and word.startswith("--include=") for word in argv)
    assert any("policy-rc.d" in word and word.startswith("--essential-hook=") for word in argv)


def test_without_kollas_templates_it_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="templates of images are not there") as failure:
        BoxImages(ImagePlaces.of(tmp_path), lambda _: None).make()
    assert failure.value.fix == "setup/kolla"
    assert not (tmp_path / ".nfvbed").exists()


def test_a_record_of_another_form_is_none(tmp_path: Path) -> None:
    assert ImageRecord.read(tmp_path) is None
    (tmp_path / "images.json").write_text('{"images": "ours"}')
    assert ImageRecord.read(tmp_path) is None


def test_folders_of_logs_stay_without_their_files(tmp_path: Path) -> None:
    for name in ("var/log/rabbitmq/startup_log", "var/log/dpkg.log", "tmp/build/wheel", "usr/include/stdio.h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    clean(tmp_path)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        *("tmp", "usr", "var", "var/log", "var/log/rabbitmq"),
    ]
