"""A real browser for the tests of pages; without one they are skipped."""

import contextlib
import shutil

import pytest


@contextlib.contextmanager
def chromium():
    """Starts Chromium, or skips the test."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the PATH")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()
