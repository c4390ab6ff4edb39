"""What a site does that has only what every site must have: it refuses the rest, and says why."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import Deployment
from nfvbed.records.findings import State
from nfvbed.sites.catalogue import SITES, open_site
from nfvbed.sites.hosted import require_host
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.spec.choices import resolve
from nfvbed.spec.document import parse_document
from nfvbed.spec.site import AnySite, SiteSpec
from nfvbed.spec.validate import build_one_of
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
VARIANT = PROJECT.load_variant("ovs-dpdk")
VNF = resolve(VnfUse(vnf="vloop"), VARIANT, PROJECT)
STANDS = Deployment(id="d", variant="ovs-dpdk", site="s", topology="pvp", ports=())


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("deploy_to_stay", (VARIANT, "p2p")),
        ("onboard", (VARIANT, "pvp", VNF, print)),
        ("check", ("pvp", VNF)),
        ("prepare", ("pvp", VNF)),
        ("scale", (STANDS, 2)),
        ("heal", (STANDS,)),
        ("offboard", (STANDS,)),
    ],
)
def test_what_a_site_has_not_is_unsupported(verb, arguments):
    with pytest.raises(UnsupportedError, match="site simulated cannot") as refused:
        getattr(SimulatedSite(), verb)(*arguments)
    assert refused.value.fix


def test_nothing_outlives_a_command_there():
    site = SimulatedSite()
    site.begin()
    assert site.find_deployed() is None
    assert site.foresee_take_down() == site.take_down(everything=True) == ("nothing is deployed on this host",)
    site.close()


def test_a_site_that_is_no_host_has_none():
    with pytest.raises(UnsupportedError, match="a packet's cost cannot be measured on site simulated"):
        require_host(SimulatedSite(), STANDS, "a packet's cost")


def test_a_site_that_is_no_host_says_so_when_it_is_examined():
    first, *own = SimulatedSite().examine().findings
    assert (first.topic, first.state) == ("host", State.ABSENT)
    assert "site simulated is no host" in first.summary
    assert ("simulated", "True") in [(finding.topic, finding.summary) for finding in own]


def test_every_kind_of_file_has_a_site():
    assert set(SITES) == {PROJECT.load_site(name).kind for name in PROJECT.site_names}
    with pytest.raises(UnsupportedError, match="no site of kind rack"):
        open_site(SiteSpec(name="r", kind="rack"), PROJECT.root)


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("name: x", "the key 'kind' is missing in x.yml", "add `kind: ...`"),
        ("{name: x, kind: rack}", "kind is not valid in x.yml", "give one of 'lab', 'guest'"),
        ("{name: x, kind: guest}", "the key 'guest' is missing in x.yml", "add `guest: ...`"),
        ("{name: x, kind: lab, cores: 2}", "unknown key 'cores' in x.yml", ""),
        ("{name: x, kind: lab, guest: {vcpus: 2}}", "values in guest do not fit together in x.yml", ""),
        (
            "{name: x, kind: guest, guest: {vcpus: 1}}",
            "guest.vcpus is not valid in x.yml",
            "give a number of at least 2 and at most 64",
        ),
    ],
)
def test_a_sites_file_is_read_by_its_kind(tmp_path, text, what, fix):
    document = parse_document(tmp_path / "x.yml", text)
    with pytest.raises(ConfigurationError) as refused:
        build_one_of(document, AnySite)
    assert refused.value.what == what
    assert fix in refused.value.fix


@pytest.mark.parametrize(("name", "reason"), [("devcloud", "Neutron"), ("cloud", "Neutron"), ("", "joins VNFs once")])
def test_a_site_that_joins_vnfs_once_has_a_chain_that_is_fixed(name, reason):
    site = open_site(PROJECT.load_site(name), PROJECT.root) if name else SimulatedSite()
    chain = site.chain(STANDS)
    assert reason in chain.fixed
    assert (chain.cables(), chain.lengths) == ((), ())
    for change in (lambda: chain.apply((1, 0)), lambda: chain.control.apply((1, 0)), lambda: chain.redeploy(3, print)):
        with pytest.raises(UnsupportedError) as refused:
            change()
        assert refused.value.fix
        assert site.name in refused.value.where + refused.value.what
