import keras
import numpy as np
import pytest

from transformer_tf.config import TrainingConfig
from transformer_tf.errors import ConfigError
from transformer_tf.runs.plan import check_schedule, make_schedule, plan_in_time, plan_run


def plan(steps_per_epoch, **options):
    """A checked plan."""
    training = TrainingConfig(**options)
    planned = plan_run(training, steps_per_epoch)
    check_schedule(training, planned)
    return planned


@pytest.mark.parametrize(
    ("steps_per_epoch", "epochs", "every", "warmup"),
    [(50, 1, 5, 5), (400, 2, 80, 80), (27, 30, 27, 81), (1000, 10, 1000, 1000)],
)
def test_the_defaults_fit_the_run(steps_per_epoch, epochs, every, warmup):
    """Runs of 50, 800, 810 and 10 000 steps."""
    run = plan(steps_per_epoch, max_epochs=epochs)
    assert run.max_steps == steps_per_epoch * epochs
    assert (run.validate_every, run.warmup, run.cooldown) == (every, warmup, 0)
    assert run.max_steps / run.validate_every >= 10


def test_shares_and_numbers_of_steps():
    options = {"max_epochs": 1, "validate_every": 369}
    shares = plan(10_000, **options, warmup_steps=0.2, cooldown_steps=0.3)
    assert shares == plan(10_000, **options, warmup_steps=2000, cooldown_steps=3000)
    assert (shares.warmup, shares.cooldown, shares.validate_every) == (2000, 3000, 369)


@pytest.mark.parametrize(
    ("steps", "options"),
    [
        (800, {"warmup_steps": 2000, "cooldown_steps": 1230}),
        (10_000, {"warmup_steps": 0.4, "cooldown_steps": 0.11}),
        (50, {"warmup_steps": 26}),
    ],
)
def test_too_long_a_warm_up_is_an_error(steps, options):
    with pytest.raises(ConfigError, match=f"training.warmup_steps={options['warmup_steps']} "):
        plan(steps, max_epochs=1, **options)
    plan(steps, max_epochs=1, warmup_steps=0.3, cooldown_steps=0.2)


@pytest.mark.parametrize("minutes", [1, 6, 60, 600])
@pytest.mark.parametrize("validation", [0.1, 20.0])
@pytest.mark.parametrize(
    "options", [{"validate_every": 9999}, {}, {"warmup_steps": 2000, "cooldown_steps": 0.2}]
)
def test_a_time_limit_is_filled_with_steps_and_validations(minutes, validation, options):
    """The learning rate rises and falls within it, and it is not exceeded."""
    training = TrainingConfig(max_epochs=1000, **options)
    planned = plan_in_time(training, 500, 60 * minutes, 0.7, validation)
    count = -(-planned.max_steps // planned.validate_every)
    spent = 0.7 * planned.max_steps + validation * count
    assert 0.9 < spent / (60 * minutes) < 1
    assert count == 1 or validation * count < 0.2 * 60 * minutes
    assert planned.warmup + planned.cooldown <= planned.max_steps / 2
    alone = plan_run(TrainingConfig(max_epochs=2), 500)
    assert plan_in_time(TrainingConfig(max_epochs=2), 500, 1e9, 0.7) == alone


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_of_a_few_steps(steps):
    run = plan(steps, max_epochs=1)
    assert (run.max_steps, run.warmup, run.validate_every) == (steps, 1, 1)


def rates(training, steps, d_model=128):
    schedule = make_schedule(training, plan_run(training, steps), d_model)
    return np.array([float(keras.ops.convert_to_numpy(schedule(step))) for step in range(200)])


@pytest.mark.parametrize("steps", [50, 200])
def test_the_highest_rate_does_not_depend_on_the_warm_up(steps):
    """It is that of 4 000 warm-up steps. A share and the same number of steps are one curve."""
    settings = {"max_epochs": 1, "learning_rate_scale": 2.0}
    share, number = (
        rates(TrainingConfig(**settings, warmup_steps=warmup), steps)
        for warmup in (0.1, steps // 10)
    )
    np.testing.assert_array_equal(share, number)
    assert share.argmax() == steps // 10 - 1
    assert share.max() == pytest.approx(2 * (128 * 4000) ** -0.5, rel=1e-5)


def test_the_paper_has_4000_warm_up_steps():
    training = TrainingConfig(max_epochs=1, warmup_steps=4000)
    expected = [128**-0.5 * (step + 1) * 4000**-1.5 for step in range(200)]
    np.testing.assert_allclose(rates(training, 9000), expected, rtol=1e-5)


def test_the_rate_falls_to_zero_at_the_end_of_the_run():
    """It falls over the last 6 of 16 steps."""
    rate = rates(TrainingConfig(max_epochs=1, warmup_steps=1, cooldown_steps=0.4), 16)
    assert rate[15] > 0 and not rate[16:].any()
    shares = rate[9:16] * np.arange(10, 17) ** 0.5 / rate[0]
    np.testing.assert_allclose(shares, [1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6], rtol=1e-5)
