"""The chain editor in a real browser on the real lab: VNFs are ordered by keyboard, by mouse and without scripts.

As root.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_dashboard import serious
from tests.chromium import chromium
from tests.mouse import serving

pytestmark = pytest.mark.dashboard
PATIENCE_MS = 60_000


@pytest.fixture(name="deployed")
def _deployed(ask):
    """Two VNFs in a chain behind a real switch."""
    status, _, err = ask("onboard", "vloop", "--variant", "ovs-dpdk", "--topology", "pvvp")
    assert status == 0, err
    yield
    ask("destroy")


@pytest.fixture(name="address")
def _address(deployed, mark, tmp_path):
    with serving(tmp_path / "nfvbed.sqlite", mark) as (address, _):
        yield address


@pytest.fixture(name="browser")
def _browser(address):
    """A browser, after the host was looked at: a thread with Playwright's event loop cannot do that."""
    with chromium() as browser:
        yield browser


def opened(browser, address, **context):
    page = browser.new_context(
        **{"color_scheme": "light", "viewport": {"width": 1280, "height": 1000}, **context}
    ).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.errors = []
    page.on("console", lambda said: page.errors.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(f"{address}/chain")
    return page


def order(page):
    return page.locator("#now b").inner_text()


def flows(page):
    """Return joined ports with the frames that their rules have matched, to port 1 and to port 0."""
    rows = page.locator("#flows tbody tr").all_inner_texts()
    return {tuple(cells[:2]): tuple(map(int, cells[2:4])) for cells in (row.split("\t") for row in rows)}


def hops(page):
    names = page.locator("#hops tbody th").all_inner_texts()
    return [name.removeprefix("br0 port ") for name in names if re.fullmatch(r"br0 port v\d[ab]", name)]


def apply(page):
    page.locator("#apply-button").press("Enter")
    page.wait_for_url(re.compile(r"/chain\?site=lab$"))


def test_vnfs_are_ordered_by_keyboard_by_mouse_and_without_scripts(address, browser, tmp_path):
    page = opened(browser, address)
    assert order(page) == "vnf1, vnf2"
    assert hops(page) == ["v1a", "v1b", "v2a", "v2b"]
    expect(page.locator("#apply-button")).to_be_disabled()
    # By keyboard, the page's own script at work.
    page.get_by_role("button", name="Move vnf2 up").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("vnf2 is number 1 of 2: vnf2, vnf1; not applied yet.")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Move vnf2 down")
    assert page.url.endswith("/chain?site=lab&order=vnf2%2Cvnf1"), "the draft can be shared"
    assert order(page) == "vnf1, vnf2", "nothing is changed yet"
    apply(page)
    assert order(page) == "vnf2, vnf1"
    assert hops(page) == ["v2a", "v2b", "v1a", "v1b"]
    counted = flows(page)
    assert list(counted) == [("p0", "v2a"), ("v2b", "v1a"), ("v1b", "p1")]
    assert all(forward and backward for forward, backward in counted.values()), counted
    for scheme, width in (("light", 1280), ("dark", 400)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 1000})
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        page.screenshot(path=tmp_path / f"chain-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 1000})
    # By mouse.
    first, second = (page.locator(f"#vnf-{name} .name").bounding_box() for name in ("vnf2", "vnf1"))
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(second["x"] + 5, second["y"] + second["height"] + 20, steps=8)
    page.mouse.up()
    expect(page.get_by_role("status")).to_have_text("vnf2 is number 2 of 2: vnf1, vnf2; not applied yet.")
    page.locator("#apply-button").click()
    page.wait_for_url(re.compile(r"/chain\?site=lab$"))
    assert order(page) == "vnf1, vnf2"
    assert list(flows(page)) == [("p0", "v1a"), ("v1b", "v2a"), ("v2b", "p1")]
    assert page.errors == []
    # Without scripts.
    plain = opened(browser, address, java_script_enabled=False)
    plain.get_by_role("button", name="Move vnf1 down").press("Enter")
    plain.wait_for_url("**/chain?site=lab&order=vnf2%2Cvnf1#vnf-vnf1")
    plain.locator("select[name=length]").select_option("3")
    apply(plain)
    assert order(plain) == "vnf2, vnf1"
    # Another length is foreseen, and not done.
    plain.locator("select[name=length]").select_option("3")
    plain.get_by_role("button", name="Say what that changes").press("Enter")
    plain.wait_for_url("**length=3#agree")
    assert "is taken down and set up again as pv3p" in plain.locator("#agree").inner_text()
    plain.screenshot(path=tmp_path / "chain-length.png", full_page=True)
