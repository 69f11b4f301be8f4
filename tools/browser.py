"""A real browser, for what is tested, measured and pictured of the pages."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from transformer_tf.errors import TransformerTFError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


@contextlib.contextmanager
def open_chromium() -> Iterator[Browser]:
    """Starts Chromium without a window.

    Raises:
        TransformerTFError: If Playwright or the browser is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise TransformerTFError(
            "Playwright is missing: python -m pip install playwright"
        ) from error
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        raise TransformerTFError(f"There is no browser: none of {', '.join(NAMES)} is on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(OPTIONS))
        try:
            yield browser
        finally:
            browser.close()
