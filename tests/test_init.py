import pytest

import transformer_tf


@pytest.mark.parametrize("name", transformer_tf.__all__)
def test_every_public_name_exists(name):
    assert name in dir(transformer_tf)
    assert getattr(transformer_tf, name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Translater"):
        transformer_tf.Translater  # noqa: B018
