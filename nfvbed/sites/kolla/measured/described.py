"""A rack's file in the form that the code for existing clouds reads."""

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.errors import ConfigurationError, InternalError
from nfvbed.sites.openstack.paths import PathNetworks
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.rack import RackNicSpec
from nfvbed.spec.remote import GeneratorHostSpec
from nfvbed.spec.site import CloudSiteSpec, KollaSiteSpec

OF_NICS = PathNetworks(("nfvbed-left", "nfvbed-right"), ("nfvbed-link1", "nfvbed-link2"), ("nfvbed-tunnel1",))
"""Networks of switches that have NICs of role dpdk, and of devices on such a NIC."""
OF_FUNCTIONS = PathNetworks(("nfvbed-vf-left", "nfvbed-vf-right"), ("nfvbed-vf-link1", "nfvbed-vf-link2"))
"""Networks of virtual functions: their NICs are on another physical network."""


def path_networks(plane: KollaPlane) -> PathNetworks:
    """Return the networks on which paths of a data plane lie; nfvbed makes them."""
    return OF_FUNCTIONS if plane.has_functions else OF_NICS


def described(site: KollaSiteSpec, release: str) -> CloudSiteSpec:
    """Return a rack's cloud as a site of kind cloud describes one.

    Args:
        release: release that it was deployed with.

    Raises:
        ConfigurationError: the file does not say what the generator is.
    """
    return CloudSiteSpec(
        name=site.name,
        kind="cloud",
        os_cloud=site.name,
        networks=OF_NICS.outside,
        links=OF_NICS.links,
        generator=generator_host(site),
        onboarding="sol" if release == NEWEST else "legacy",
    )


def without_program(site: KollaSiteSpec) -> str:
    """Return why a rack has no generator to measure with; empty: it has one.

    Where the generator's ports are devices of the kernel's, nfvgen is copied to the machine if the file has no path.
    """
    generator = site.generator
    if generator is not None:
        by_kernel = all(nic.pci is None for nic in site.hosts[generator.host].nics_of("dpdk"))
        if generator.program is not None or (generator.engine == "nfvgen" and by_kernel):
            return ""
    return f"its file names no {generator.engine if generator else 'nfvgen'} on a generator"


def _port(nic: RackNicSpec) -> dict[str, str | None]:
    """Return a port as nfvgen opens it: a NIC of DPDK's by PCI address, else the kernel's device."""
    return {"pci": nic.pci} if nic.pci else {"mac": nic.mac}


def generator_host(site: KollaSiteSpec) -> GeneratorHostSpec:
    """Return the machine that has the generator, as the generator is started there.

    Raises:
        ConfigurationError: as `described`.
    """
    file, generator = f"deploy/sites/{site.name}.yml", site.generator
    engine = generator.engine if generator else "nfvgen"
    lacking = without_program(site)
    if generator is None or lacking:
        needed = "the path of the program there" if engine == "nfvgen" else "{folder: its folder there}"
        raise ConfigurationError(
            f"site {site.name} cannot be measured: {lacking}",
            where=f"{file} generator" + (f".{engine}" if generator else ""),
            observed="there is none",
            fix=f"a machine with the role generator, and its {engine}: {needed}",
        )
    reached = site.reached(generator.host)
    if reached is None:
        raise ConfigurationError(
            "it is not known how the generator's machine is reached",
            where=f"{file} ssh",
            observed="the file has no ssh",
            fix="ssh: {user: root, key: ..., known_hosts: ...}",
        )
    ports = tuple(_port(nic) for nic in site.hosts[generator.host].nics_of("dpdk"))
    if len(ports) != len(OF_NICS.outside):
        raise InternalError("a generator has two NICs of role dpdk", where=file)
    return GeneratorHostSpec.model_validate(
        {
            **reached.model_dump(),
            engine: generator.program,
            "core": generator.core,
            "hugepages_mib": generator.hugepages_mib,
            "ports": ports,
        }
    )
