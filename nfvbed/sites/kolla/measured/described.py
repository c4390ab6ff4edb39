"""What the code for existing clouds takes of a rack's file."""

from nfvbed.errors import ConfigurationError, InternalError, UnsupportedError
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.remote import GeneratorHostSpec
from nfvbed.spec.site import CloudSiteSpec, KollaSiteSpec

OUTSIDE = ("nfvbed-left", "nfvbed-right")
LINKS = ("nfvbed-link1", "nfvbed-link2")


def described(site: KollaSiteSpec, release: str) -> CloudSiteSpec:
    """Return a rack's cloud as a site of kind cloud describes one.

    Args:
        site: the rack.
        release: that it was deployed with.

    Raises:
        ConfigurationError: the file does not say what the generator is.
        UnsupportedError: the generator is none that nfvbed starts on another host.
    """
    return CloudSiteSpec(
        name=site.name,
        kind="cloud",
        os_cloud=site.name,
        networks=OUTSIDE,
        links=LINKS,
        generator=generator_host(site),
        onboarding="sol" if release == NEWEST else "legacy",
    )


def generator_host(site: KollaSiteSpec) -> GeneratorHostSpec:
    """Return the machine that has the generator, as nfvgen is started on it.

    Raises:
        ConfigurationError, UnsupportedError: as `described`.
    """
    file, generator = f"deploy/sites/{site.name}.yml", site.generator
    if generator is None or generator.nfvgen is None:
        raise ConfigurationError(
            f"site {site.name} cannot be measured: its file names no nfvgen on a generator",
            where=f"{file} generator" + (".nfvgen" if generator else ""),
            observed="there is none",
            fix="a machine with the role generator, and its nfvgen: the path of the program there",
        )
    if generator.engine != "nfvgen":
        raise UnsupportedError(
            f"site {site.name} has a generator that nfvbed does not start on another host",
            where=f"{file} generator.engine",
            observed=generator.engine,
            fix="engine: nfvgen",
        )
    reached = site.reached(generator.host)
    if reached is None:
        raise ConfigurationError(
            "it is not known how the generator's machine is reached",
            where=f"{file} ssh",
            observed="the file has no ssh",
            fix="ssh: {user: root, key: ..., known_hosts: ...}",
        )
    ports = tuple({"pci": nic.pci} for nic in site.hosts[generator.host].nics_of("dpdk"))
    if len(ports) != len(OUTSIDE):
        raise InternalError("a generator has two NICs of role dpdk", where=file)
    return GeneratorHostSpec.model_validate(
        {
            **reached.model_dump(),
            "nfvgen": generator.nfvgen,
            "core": generator.core,
            "hugepages_mib": generator.hugepages_mib,
            "ports": ports,
        }
    )
