"""`deploy`, `trace` and `onboard` of a variant that a host may not be able to run. As root."""

import pytest
from lab_host import assert_back_to

from nfvbed.onboard.sites import open_site
from nfvbed.records import Readiness
from nfvbed.spec.loader import Project

PROJECT = Project()


@pytest.fixture(name="ask")
def _ask(nfvbed):
    def ask(*arguments):
        process = nfvbed(*arguments)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    return ask


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("ovs-kernel", ("deploy", "ovs-kernel")),
        ("ovs-kernel", ("trace", "ovs-kernel")),
        ("ovs-kernel", ("onboard", "vloop", "--variant", "ovs-kernel")),
    ],
)
def test_what_the_host_lacks_is_told_as_the_doctor_tells_it(ask, before, mark, name, command):
    support = open_site(PROJECT.load_site("lab"), PROJECT.root).probe(PROJECT.load_variant(name))
    status, _, err = ask(*command)
    if support.readiness is Readiness.UNSUPPORTED:
        assert status == 11, err
        assert f"{name} cannot run here" in err
        assert support.reason in err
        assert support.fix in err
    else:
        assert status == 0, err
        assert ask("destroy")[0] == 0
    assert_back_to(before, mark)
