import math

import pytest

from transformer_tf.training.progress import Progress


@pytest.mark.parametrize(
    ("score", "best", "metric", "expected"),
    [
        (3.0, None, "bleu", True),
        (3.0, 2.0, "bleu", True),
        (3.0, 2.0, "perplexity", False),
        (1.0, 2.0, "perplexity", True),
        (2.0, 2.0, "chrf", False),
        (math.nan, None, "bleu", False),
        (math.inf, None, "perplexity", False),
    ],
)
def test_the_best_score(score, best, metric, expected):
    progress = Progress(best=best, validations_since_best=4)
    assert progress.add_score(score, metric) is expected
    assert progress.best == (score if expected else best)
    assert progress.validations_since_best == (0 if expected else 5)
