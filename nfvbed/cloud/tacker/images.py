"""The images that Tacker makes of a package's for each instance, and leaves when instantiation fails."""

from typing import Any

from nfvbed.cloud.tacker.account import Account
from nfvbed.cloud.tacker.connection import asking

_KIND = "image-name"


def left(account: Account, owner: str, name: str, names: tuple[str, ...] = ()) -> list[Any]:
    """Return the images that are left of a VNF.

    They have none of our tags. Ours have a name from the VNF's package, are private and this project's, are not older
    than our request, and are no instance's.
    """
    notes = [one for one in account.journal.read(account.cloud, owner) if one.kind == _KIND and one.name == name]
    wanted = {one.id: one.since for one in reversed(notes) if not names or one.id in names}
    if not wanted:
        return []
    with asking("the list of images"):
        used = {str((server.image or {}).get("id", "")) for server in account.connection.compute.servers()}
        listed = [image for one in wanted for image in account.connection.image.images(name=one)]
    mine = str(account.connection.current_project_id)
    return [
        image
        for image in listed
        if image.visibility == "private"
        and str(image.owner_id) == mine
        and str(image.created_at) >= wanted[image.name]
        and str(image.id) not in used
    ]


def remove_left(account: Account, owner: str, name: str, names: tuple[str, ...] = ()) -> None:
    """Remove the images that are left of a VNF."""
    for image in left(account, owner, name, names):
        with asking(f"removing image {image.name}"):
            account.connection.image.delete_image(image.id, ignore_missing=True)
