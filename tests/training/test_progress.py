import math

import pytest

from transformer_tf.training.progress import Progress


@pytest.mark.parametrize(
    ("perplexity", "best", "lower"),
    [
        (3.0, math.inf, True),
        (1.0, 2.0, True),
        (2.0, 2.0, False),
        (3.0, 2.0, False),
        (math.nan, math.inf, False),
    ],
)
def test_the_lowest_perplexity(perplexity, best, lower):
    progress = Progress(best=best, validations_since_best=4)
    assert progress.add_perplexity(perplexity) is lower
    assert progress.best == (perplexity if lower else best)
    assert progress.validations_since_best == (0 if lower else 5)
