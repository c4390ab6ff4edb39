"""Images that Tacker left: ours by the journal's name and time, by project, visibility, and by use."""

from types import SimpleNamespace

from nfvbed.cloud.tacker import images
from nfvbed.cloud.tacker.journal import Journal, Note
from tests.unit.cloud.tacker.fake_cloud import cloud, server

SINCE, LATER, BEFORE = "2026-11-23T00:10:00Z", "2026-11-23T00:11:00Z", "2026-11-23T00:09:00Z"


def image(identifier, created_at=LATER, visibility="private", owner_id="ours"):
    """Return an image as Glance lists it."""
    return SimpleNamespace(
        id=identifier, name="cirros", created_at=created_at, visibility=visibility, owner_id=owner_id
    )


def test_only_what_is_ours_is_left(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.write(Note("image-name", "cirros", "demo", "a", "here", SINCE))
    used = server("s1")
    used.image = {"id": "in use"}
    listed = [
        image("ours"),
        image("older", created_at=BEFORE),
        image("public", visibility="public"),
        image("another project's", owner_id="theirs"),
        image("in use"),
    ]
    account = SimpleNamespace(journal=journal, cloud="here", connection=cloud(servers=[used], images=listed))
    assert [one.id for one in images.left(account, "demo", "a")] == ["ours"]
    assert images.left(account, "demo", "b") == []
    assert images.left(account, "other", "a") == []
    assert images.left(account, "demo", "a", ("another name",)) == []
