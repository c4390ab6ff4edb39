"""What is said of a data plane with a release holds together."""

import pytest

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.cloud.kolla.release import ReleaseSupport, unsupported
from nfvbed.dataplanes.catalogue import open_project

OCATA = open_project().load_kolla_release("ocata")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: ReleaseSupport("nobody"), "reason says why"),
        (lambda: ReleaseSupport("kolla", reason="x"), "reason says why"),
        (lambda: ReleaseSupport("roles"), "own_roles names those"),
    ],
)
def test_what_contradicts_itself_is_refused(made, said):
    with pytest.raises(ValueError, match=said):
        made()


def test_a_release_may_have_the_data_planes_of_another():
    plane = KollaPlane(name="toy", releases={"ocata": ReleaseSupport("kolla"), "pike": unsupported("no reason")})
    newton = OCATA.model_copy(update={"name": "newton"})
    assert plane.on(newton) is None
    assert plane.on(newton.model_copy(update={"planes_as": "ocata"})) == ReleaseSupport("kolla")
    # What a record says of the release itself comes first.
    assert plane.on(OCATA.model_copy(update={"name": "pike", "planes_as": "ocata"})) == unsupported("no reason")
