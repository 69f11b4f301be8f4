"""A page with several models: two small checkpoints, in opposite directions."""

import dataclasses
import functools
import http.server
import shutil
import threading

import pytest
from PIL import Image

from transformer_tf.checkpoint import open_checkpoint, save_checkpoint
from transformer_tf.errors import CheckpointError
from transformer_tf.export.web.pack import pack_checkpoint
from transformer_tf.export.web.site import PREVIEW_SIZE, ListedModel, export_web, render_site
from transformer_tf.hashes import record_hashes

FIRST = "My father bought a new car last week."  # the first example of the page


@pytest.fixture(scope="module")
def folders(checkpoint, tmp_path_factory):
    """The small checkpoint, and one from German to English: the same with exchanged languages."""
    back = tmp_path_factory.mktemp("back") / "back"
    config, weights, source, target = open_checkpoint(checkpoint)
    data = dataclasses.replace(config.data, source_language="de", target_language="en")
    save_checkpoint(back, dataclasses.replace(config, data=data), target, source)
    shutil.copy(weights, back)
    record_hashes(back)
    return [checkpoint, back]


@pytest.fixture(scope="module")
def engines(start_engine, folders):
    return [start_engine(pack_checkpoint(folder)) for folder in folders]


@pytest.fixture(scope="module")
def site(folders, tmp_path_factory):
    output = tmp_path_factory.mktemp("web") / "site"
    export_web(folders, output)
    return output


@pytest.fixture(scope="module")
def server(site):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def open_page(browser):
    contexts, noise = [], []

    def open_(url):
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.asked = []
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url.rpartition("/")[2]))
        page.goto(url)
        ready(page)
        return page

    open_.noise = noise
    yield open_
    for context in contexts:
        context.close()
    assert noise == []


def ready(page):
    page.wait_for_selector("body[data-state=ready]", timeout=60_000)


def choose(page, name, source):
    """Chooses a model, and waits until it has translated."""
    page.select_option("#model", label=name)
    page.wait_for_function(
        "source => document.querySelector('#source-language').textContent === source", arg=source
    )
    ready(page)


def translate(ask, text):
    parts = [{key: part[key] for key in ("text", "allCaps")} for part in ask("segments", text)]
    return " ".join(ask("translate", {**part, "search": "beam"})["text"] for part in parts)


def test_a_folder_has_a_page_and_its_models(open_page, site):
    page = open_page((site / "index.html").as_uri())
    titles = page.locator("#model option").all_text_contents()
    assert titles == ["English → German", "German → English"]
    assert sorted(path.name for path in site.iterdir()) == [
        *("back.gz", "back.js", "index.html", "tiny.gz", "tiny.js", "translator.js")
    ]


def test_a_single_file_needs_no_other(open_page, folders, engines, tmp_path):
    path = tmp_path / "page.html"
    export_web(folders[:1], path, single_file=True)
    page = open_page(path.as_uri())
    assert page.text_content("#translation") == translate(engines[0], FIRST)
    assert [name for name in page.asked if "." in name] == ["page.html"]


def test_without_webassembly(open_page, server, engines):
    page = open_page(f"{server}?plain")
    assert page.text_content("#engine") == "plain"
    assert page.text_content("#translation") == translate(engines[0], FIRST)


def test_a_place_with_something_else_is_refused(folders, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for options in ({}, {"single_file": True}):
        with pytest.raises(CheckpointError, match=str(tmp_path)):
            export_web(folders, tmp_path, **options)
    with pytest.raises(CheckpointError, match="folder names"):
        export_web([folders[0], folders[0]], tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_link_previews_have_a_picture_if_the_address_is_known(folders, site, tmp_path):
    output = tmp_path / "site"
    export_web(folders[:1], output, url="https://example.org/a?b&c")
    page = (output / "index.html").read_text(encoding="utf-8")
    assert 'property="og:image" content="https://example.org/a?b&amp;c/preview.png"' in page
    with Image.open(output / "preview.png") as picture:
        assert picture.size == PREVIEW_SIZE
    plain = (site / "index.html").read_text(encoding="utf-8")
    assert "og:image" not in plain and "og:title" in plain and 'name="description"' in plain
    with pytest.raises(CheckpointError, match="folder"):
        export_web(folders[:1], tmp_path / "page.html", single_file=True, url="https://a.example")
    with pytest.raises(CheckpointError, match="example.org"):
        export_web(folders[:1], tmp_path / "other", url="example.org")


def test_two_models_of_one_pair_have_their_names(open_page, folders, tmp_path):
    pack = pack_checkpoint(folders[0])
    listed = [ListedModel(name, "en", "de") for name in ("small", "large")]
    path = tmp_path / "page.html"
    path.write_text(render_site(listed, [pack, pack]), encoding="utf-8")
    titles = open_page(path.as_uri()).locator("#model option").all_text_contents()
    assert titles == ["English → German (small)", "English → German (large)"]


def test_the_other_model_translates_back(open_page, server, engines):
    page = open_page(server)
    there, back = engines
    said = translate(there, FIRST)
    assert page.input_value("#source") == FIRST
    assert page.text_content("#translation") == said
    assert [name for name in page.asked if name.endswith(".gz")] == ["tiny.gz"]
    page.click("#silence-head")
    page.wait_for_selector("#heads .silenced")
    ready(page)
    said = page.text_content("#translation")
    choose(page, "German → English", "German")
    assert [name for name in page.asked if name.endswith(".gz")] == ["tiny.gz", "back.gz"]
    assert page.input_value("#source") == said
    assert page.text_content("#translation") == translate(back, said)
    assert page.locator("#heads .silenced").count() == 0
    assert page.locator("#map .axis").first.text_content() == "German, looked at →"
    assert page.get_attribute("#translation", "lang") == "en"


def test_keys_move_one_head_after_a_change_of_the_model(open_page, site):
    page = open_page((site / "index.html").as_uri())
    choose(page, "German → English", "German")
    page.focus("[data-layer='0'][data-head='0']")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.layer") == "1"
    page.focus("#map")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#map td.cursor", "data-row") == "1"


def test_a_link_names_the_model(open_page, site, engines):
    address = (site / "index.html").as_uri()
    page = open_page(f"{address}#m=back&s=Ich%20sehe%203%20B%C3%A4ume.")
    assert page.text_content("#source-language") == "German"
    assert page.text_content("#translation") == translate(engines[1], "Ich sehe 3 Bäume.")
    page.fill("#source", "1 + 1 & 2")
    ready(page)
    page.click("#link")
    assert "#m=back&s=1%20%2B%201%20%26%202&" in page.url
    page.evaluate("location.hash = 'm=tiny&s=A%20tree.'")
    page.wait_for_function("() => document.querySelector('#source').value === 'A tree.'")
    ready(page)
    assert page.text_content("#translation") == translate(engines[0], "A tree.")
    assert page.text_content("#source-language") == "English"


def test_a_link_has_the_view_the_head_and_the_changes(open_page, site):
    address = (site / "index.html").as_uri()
    page = open_page(f"{address}#m=tiny&s=I%20see%203%20trees.")
    page.click("#way-encoder")
    page.click("[data-layer='0'][data-head='1']")
    page.click("#silence-head")
    page.click("#way-odds")
    page.click("#next-tokens button >> nth=3")
    page.click("#way-encoder")
    page.wait_for_selector("#heads .silenced")
    ready(page)
    page.click("#link")
    other = open_page(page.url)
    other.wait_for_selector("#heads .silenced")
    ready(other)
    for place in ("#translation", "#notice-text", "#chosen"):
        assert other.text_content(place) == page.text_content(place), place
    assert "Layer 1, head 2" in other.text_content("#chosen")
    # A link without a sentence keeps the example.
    example = open_page(f"{address}#view=encoder")
    assert example.get_attribute("#way-encoder", "aria-pressed") == "true"
    assert example.input_value("#source") and example.text_content("#translation")
    # What the model does not have is left out.
    broken = open_page(f"{address}#s=A%20tree.&silent=cross.99.0,x&begin=999999&head=9.9&view=no")
    assert broken.is_hidden("#notice") and broken.text_content("#translation")


def test_the_languages_are_swapped(open_page, site, engines):
    page = open_page((site / "index.html").as_uri())
    said = page.text_content("#translation")
    page.click("#swap")
    page.wait_for_function("() => document.querySelector('#source').lang === 'de'")
    ready(page)
    assert page.input_value("#source") == said
    assert page.text_content("#translation") == translate(engines[1], said)


def test_a_model_that_is_missing(open_page, site, tmp_path):
    copied = shutil.copytree(site, tmp_path / "site")
    (copied / "back.js").unlink()
    page = open_page((site / "index.html").as_uri())
    page.goto((copied / "index.html").as_uri())
    ready(page)
    page.select_option("#model", label="German → English")
    page.wait_for_selector("body[data-state=error]")
    assert page.text_content("#translation") == "back.js is missing"
    assert page.is_disabled("#source") and page.is_disabled("#examples")
    assert not page.is_visible("#map")
    assert open_page.noise == ["Failed to load resource: net::ERR_FILE_NOT_FOUND"]
    open_page.noise.clear()
    choose(page, "English → German", "English")
    assert page.input_value("#source") == FIRST
