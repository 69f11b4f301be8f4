"""Pointing at a long sentence changes little of the page, so that slow devices follow."""

import pytest

from tests.export.web.conftest import type_text

pytestmark = pytest.mark.slow

LONG = (
    "The old man who lives next door to my parents has two dogs and a cat, and every morning he "
    "walks with them through the park and along the river to the small shop where he buys fresh "
    "bread, milk and a newspaper before he goes back home to eat."
)
COUNT = """() => {
    window.writes = 0;
    new MutationObserver((records) => { writes += records.length; }).observe(document.body,
        { subtree: true, childList: true, attributes: true, characterData: true });
}"""


ALL_ELSE_IS_FADED = """(canvas, { row, column }) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const isStrong = (i) => data[4 * i + 3] > 0.41 * 255;
    const strong = Array.from({ length: width * height }, (_, i) => i).filter(isStrong);
    return width > 40 && strong.length > 0 && strong.every((i) =>
        Math.floor(i / width) === row || i % width === column);
}"""


def work(page, places):
    """The changes of the page, and its layouts, for each move of the pointer."""
    page.mouse.move(*places[0])
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def layouts():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "LayoutCount")

    page.wait_for_timeout(300)
    page.evaluate("writes = 0")
    before = layouts()
    for place in places[1:]:
        page.mouse.move(*place)
    moves = len(places) - 1
    return page.evaluate("writes") / moves, (layouts() - before) / moves


def centers(page, selector):
    boxes = [each.bounding_box() for each in page.locator(selector).all()]
    return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]


def test_a_move_of_the_pointer_changes_only_what_it_must(fresh_page):
    page = fresh_page
    assert len(LONG.split()) == 50
    type_text(page, LONG)
    page.wait_for_selector("#losses:has-text('Frames: ')", timeout=120_000)  # nothing else changes
    page.evaluate(COUNT)
    writes, layouts = work(page, centers(page, "#arc-target .chip")[:20])
    assert 1 <= writes <= 25 and layouts <= 1.2
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map .picture").bounding_box()
    top = box["y"] + 5
    places = [(box["x"] + box["width"] * (i + 0.5) / 20, top + 3 * i) for i in range(20)]
    writes, layouts = work(page, places)
    assert 1 <= writes <= 8 and layouts <= 1.2
    assert page.locator("#map th.lit").count() == 2
    lit = {
        side: int(page.locator(f"#map th.lit[data-{side}]").get_attribute(f"data-{side}"))
        for side in ("row", "column")
    }
    assert page.locator("#map canvas").evaluate(ALL_ELSE_IS_FADED, lit)
