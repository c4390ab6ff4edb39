"""Takes a picture of Horizon's stacks, logged in as the cloud's administrator: `python demo/horizon.py FILE`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from nfvbed.cloud.devcloud.access import NAME
from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu"]
WIDTH, HEIGHT = 1400, 700
STACKS = "/project/stacks/"
HORIZON = f"http://{LOOPBACK}:{PORTS['horizon']}"


def log_in(page: "Page", auth: Mapping[str, str]) -> None:
    """Log in as a user of the cloud's.

    Args:
        page: of a browser.
        auth: `username` and `password`.
    """
    page.goto(f"{HORIZON}/auth/login/")
    page.fill("input[name=username]", auth["username"])
    page.fill("input[name=password]", auth["password"])
    page.click("button[type=submit]")
    page.wait_for_load_state("networkidle")


def main() -> None:
    """Log in, open the page, and write the picture."""
    if not CHROMIUM.exists():
        print("no picture: there is no Chromium (make setup-test installs it)")
        return
    from playwright.sync_api import sync_playwright

    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    auth = yaml.safe_load(CloudPlaces.of(ROOT).clouds.read_text())["clouds"][NAME]["auth"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        log_in(page, auth)
        page.goto(HORIZON + STACKS)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=target)
        rows = page.locator("table#stacks tbody tr").count()
        browser.close()
    print(f"{target}: {rows} stacks")


if __name__ == "__main__":
    main()
