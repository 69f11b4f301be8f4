import keras
import numpy as np
import pytest

from transformer_tf.training.optimizer import Adam
from transformer_tf.training.schedule import TransformerSchedule


@pytest.mark.parametrize(
    "options", [{}, {"global_clipnorm": 0.1}, {"gradient_accumulation_steps": 2}]
)
def test_as_keras(random, options):
    x = random.normal(size=(6, 8, 3)).astype("float32")
    y = random.normal(size=(6, 8, 2)).astype("float32")
    start = [random.normal(size=(3, 2)), random.normal(size=2)]
    ends = []
    for kind in (Adam, keras.optimizers.Adam):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        model.set_weights(start)
        schedule = TransformerSchedule(4, 3)
        model.compile(kind(schedule, beta_2=0.98, epsilon=1e-9, **options), "mse")
        for batch in zip(x, y, strict=True):
            model.train_on_batch(*batch)
        ends.append(model.get_weights())
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    for one, before in zip(ends[0], start, strict=True):
        assert np.abs(one - before).max() > 0.1


def test_a_model_with_this_optimizer_can_be_saved(random, tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(Adam(TransformerSchedule(4, 3), beta_2=0.98), "mse")
    model.train_on_batch(random.normal(size=(6, 3)), random.normal(size=(6, 2)))
    model.save(tmp_path / "model.keras")
    optimizer = keras.models.load_model(tmp_path / "model.keras").optimizer
    assert type(optimizer) is Adam
    assert optimizer.beta_2 == 0.98
    assert int(optimizer.iterations) == 1
