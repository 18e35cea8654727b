"""Pages are for everybody: axe finds nothing to object to, in both themes and at both widths."""

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = {
    "demo": ["/", "/projects/demo/label/", "/projects/demo/annotations/", "/projects/demo/guideline/"],
    "lea": ["/", "/projects/demo/", "/projects/demo/agreement/"],
}


def violations(page):
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(visit, name, scheme):
    visitor = visit(color_scheme=scheme)
    page = visitor.page
    page.goto(f"{visitor.site}/sign-in/")
    found = {("/sign-in/", 1280): violations(page)}
    visitor.sign_in(name)
    for address in PAGES[name]:
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"{visitor.site}{address}")
            found[address, width] = violations(page)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{address} scrolls sideways at {width} px: {wide}"
    assert {place: what for place, what in found.items() if what} == {}
