"""A real browser for the tests of pages; without one they are skipped."""

import contextlib

import pytest

from tools.browser import open_chromium
from transformer_tf.errors import TransformerTFError


@contextlib.contextmanager
def chromium():
    """Starts Chromium, or skips the test."""
    with contextlib.ExitStack() as stack:
        try:
            browser = stack.enter_context(open_chromium())
        except TransformerTFError as error:
            pytest.skip(str(error))
        yield browser
