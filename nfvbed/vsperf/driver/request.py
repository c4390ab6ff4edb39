"""A test that the user's own VSPERF is to run, checked before anything is started."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.spec.layout import layout
from nfvbed.spec.site import HostSiteSpec
from nfvbed.spec.vnf import VnfSpec
from nfvbed.vsperf.conf import VsperfSettings
from nfvbed.vsperf.conf.settings import TestSettings
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.conf.testids import topology_of
from nfvbed.vsperf.conf.tunnel import IN_SWITCH
from nfvbed.vsperf.driver import forwarder, guests, ports
from nfvbed.vsperf.driver.configuration import Additions
from nfvbed.vsperf.driver.importing import DUMMY
from nfvbed.vsperf.driver.installation import Installation

OWN_GENERATOR: Final = "NfvGen"
"""Class of the plug-in."""
PLUGIN: Final = Path(__file__).parent / "plugin"
NAME_PREFIX: Final = "driver-vsperf-"
MAX_NAME: Final = 64
DUMMY_RESULTS: Final = "TRAFFICGEN_DUMMY_RESULTS"


@dataclass(frozen=True)
class Request:
    """A test for VSPERF."""

    installation: Installation
    settings: VsperfSettings
    """VSPERF's own, then the user's."""
    case: TestCase
    trafficgen: str
    site: HostSiteSpec
    root: Path
    """Folder of the project, where `native/build` is."""
    vnf: VnfSpec
    """VNF whose image VSPERF's guests boot where the user names none."""

    @property
    def own(self) -> TestSettings:
        """The settings as they hold for the test."""
        return self.settings.for_test(self.case, self.guests)

    @property
    def guests(self) -> int:
        """How many VNFs VSPERF starts."""
        return layout(self.topology).vnfs if self.topology else 0

    @property
    def switch(self) -> str:
        """The data plane: VSPERF's class of switch, or of packet forwarder where there is none."""
        own = self.own
        switch = str(own.require("VSWITCH").value)
        forwards = own.get("PKTFWD") if switch == forwarder.NO_SWITCH else None
        return switch if forwards is None else str(forwards.value)

    @property
    def has_nics(self) -> bool:
        """Whether VSPERF is given NICs of the host; without any its switch gets virtual ports."""
        found = self.own.get("WHITELIST_NICS")
        return bool(found is not None and found.value)

    @property
    def topology(self) -> str:
        """The topology that is the test's deployment; empty where it is more than that, as a tunnel is."""
        deployment = self.case.deployment
        return "" if deployment == IN_SWITCH else topology_of(deployment) or ""

    @property
    def name(self) -> str:
        """The run's name, as an experiment has one."""
        slug = "".join(letter if letter.isalnum() else "-" for letter in self.case.name.lower())
        return (NAME_PREFIX + slug)[:MAX_NAME].rstrip("-")


def check_release(stock: VsperfSettings) -> None:
    """Refuse a VSPERF whose tests give their traffic in another form.

    Args:
        stock: its own settings.

    Raises:
        UnsupportedError: it has no TRAFFIC.
    """
    if "TRAFFIC" not in stock.values:
        raise UnsupportedError(
            "VSPERF before danube (2017) is not driven: its tests and its generators have another form",
            where=str(stock.files[0].parent),
            observed=f"no setting TRAFFIC; it looks like {stock.release}",
            fix="use a later VSPERF, or run the test natively: nfvbed run --vsperf",
        )


def check_request(request: Request) -> None:
    """Refuse what would only fail later.

    Raises:
        UnsupportedError: nfvbed has no such path, or no port for its generator or for VSPERF's switch.
        ConfigurationError: the Dummy generator would ask a person.
    """
    where = str(request.case.place) if request.case.place else f"test {request.case.name}"
    if not request.topology:
        raise UnsupportedError(
            "the results of this test have no place in the store: nfvbed has no such path",
            where=where,
            observed=f"Deployment {request.case.deployment}",
            fix="run VSPERF itself, and keep its files",
        )
    given = request.own.get(DUMMY_RESULTS)
    if request.trafficgen == DUMMY and not (given and given.value):
        raise ConfigurationError(
            "VSPERF's Dummy generator would ask a person for its numbers",
            where=DUMMY_RESULTS,
            observed="it is empty",
            fix=f"give {DUMMY_RESULTS} = {{'frames tx': ..., 'frames rx': ..., 'tx rate %': ..., 'rx rate %': ...,"
            " 'min latency': ..., 'max latency': ..., 'avg latency': ..., 'frameloss %': ...}",
        )
    if request.has_nics:
        if request.trafficgen == OWN_GENERATOR:
            raise UnsupportedError(
                "NfvGen has no ports of its own beside the switch's NICs",
                where="WHITELIST_NICS",
                observed=str(request.own.require("WHITELIST_NICS").value),
                fix="name a generator of VSPERF with --trafficgen, or leave WHITELIST_NICS empty for virtual ports",
            )
        return
    _check_switch(request, where)
    if request.guests:
        guests.check_guests(request.case.name, request.own)


def _check_switch(request: Request, where: str) -> None:
    switch = request.switch
    if switch not in (ports.SWITCH, forwarder.FORWARDER):
        raise UnsupportedError(
            "without NICs only Open vSwitch with DPDK and testpmd get ports",
            where=where,
            observed=f"VSWITCH {request.own.require('VSWITCH').value}, {switch}",
            fix=f"use {ports.SWITCH}, or {forwarder.NO_SWITCH} with PKTFWD {forwarder.FORWARDER},"
            " or name NICs in WHITELIST_NICS",
        )
    if switch == forwarder.FORWARDER and request.case.deployment not in forwarder.DEPLOYMENTS:
        raise UnsupportedError(
            "VSPERF's packet forwarder forwards from port to port alone on virtual ports",
            where=where,
            observed=f"Deployment {request.case.deployment}",
            fix=f"use {ports.SWITCH}",
        )


def planned(request: Request) -> dict[str, Any]:
    """Return what would be run."""
    own = request.own
    return {
        "test": request.case.name,
        "deployment": request.case.deployment,
        "vsperf": request.installation.version,
        "switch": request.switch,
        "guests": request.guests,
        "trafficgen": request.trafficgen,
        "ports": "NICs of VSPERF" if request.has_nics else "virtual (vhost-user)",
        "traffic_type": own.require("TRAFFIC").at("traffic_type").value,
        "frame_sizes": list(own.require("TRAFFICGEN_PKT_SIZES").value),
        "duration_s": own.require("TRAFFICGEN_DURATION").value,
    }


def generator_additions(trafficgen: str) -> Additions:
    """Return the settings of a generator, of a collector that leaves others' processes alone, and of no pod."""
    forced = {"TRAFFICGEN": trafficgen}
    if trafficgen == OWN_GENERATOR:
        forced["TRAFFICGEN_DIR"] = str(PLUGIN / "trafficgen")
    defaults = {"COLLECTOR": "NoCollector", "COLLECTOR_DIR": str(PLUGIN / "collector")}
    defaults |= {"POD": "NoPod", "POD_DIR": str(PLUGIN / "pod")}
    return Additions(forced=forced, defaults=defaults)


def joined(first: Additions, second: Additions) -> Additions:
    """Return the additions of both."""
    both = {
        name: {**getattr(first, name), **getattr(second, name)}
        for name in ("forced", "defaults", "paths", "parameters")
    }
    return Additions(**both)
