import itertools

import numpy as np
import pytest

from transformer_tf.text.batching import Batches, choose_shapes, pad, shift_target


def make_pairs(random, count=500):
    """Pairs of ids whose first token after the start numbers them."""
    pairs = []
    for number in range(count):
        length = int(random.integers(1, 20))
        source = [98, 100 + number, *[1] * length, 99]
        pairs.append((source, [98, 100 + number, *[2] * int(length * random.uniform(0.5, 2)), 99]))
    return pairs


def test_shift():
    target = np.array([[8, 5, 6, 9, 0], [8, 7, 9, 0, 0]])
    target_input, target_output = shift_target(target)
    np.testing.assert_array_equal(target_input, [[8, 5, 6, 9], [8, 7, 9, 0]])
    np.testing.assert_array_equal(target_output, [[5, 6, 9, 0], [7, 9, 0, 0]])


def test_pad():
    padded = pad([[1, 2], [3]], length=3, rows=3)
    np.testing.assert_array_equal(padded, [[1, 2, 0], [3, 0, 0], [0, 0, 0]])
    assert padded.dtype == "int32"


def test_every_pair_once_an_epoch_and_whole(random):
    pairs = make_pairs(random)
    batches = Batches(pairs, tokens_per_batch=200, max_shapes=7)
    found = {}
    for index in range(len(batches)):
        inputs, target_output = batches[index]
        assert target_output.size <= 200
        assert inputs["source"].size <= 200
        assert batches.target_tokens(index) == np.count_nonzero(target_output)
        for source, first, rest in zip(
            inputs["source"], inputs["target_input"], target_output, strict=True
        ):
            if source.any():
                target = [first[0], *rest[rest != 0].tolist()]
                np.testing.assert_array_equal(
                    first[1:][first[1:] != 99], rest[:-1][first[1:] != 99]
                )
                found.setdefault(source[1], []).append((source[source != 0].tolist(), target))
            else:
                assert not first.any()
                assert not rest.any()
    assert sorted(found) == [100 + number for number in range(len(pairs))]
    assert all(found[100 + n] == [pairs[n]] for n in range(len(pairs)))
    assert batches.num_target_tokens == sum(len(target) - 1 for _, target in pairs)


def test_few_shapes_and_their_padding(random):
    batches = Batches(make_pairs(random), tokens_per_batch=256, max_shapes=6)
    shapes, real, padded = set(), 0, 0
    for index in range(len(batches)):
        inputs, target_output = batches[index]
        shapes.add((inputs["source"].shape, target_output.shape))
        real += np.count_nonzero(inputs["source"]) + np.count_nonzero(target_output)
        padded += inputs["source"].size + target_output.size
    assert len(shapes) <= 6
    assert batches.padding_share == pytest.approx(1 - real / padded)


def test_order_depends_on_seed_and_epoch_alone(random):
    def order(batches):
        return [batches[i][0]["source"].tolist() for i in range(len(batches))]

    pairs = make_pairs(random)
    first, again, other = Batches(pairs, seed=1), Batches(pairs, seed=1), Batches(pairs, seed=2)
    assert order(first) == order(again)
    assert order(first) != order(other)
    zero = order(first)
    first.set_epoch(3)
    assert order(first) != zero
    again.set_epoch(1)
    again.set_epoch(3)
    assert order(first) == order(again)
    first.set_epoch(0)
    assert order(first) == zero


def test_unshuffled_order_stays(random):
    batches = Batches(make_pairs(random), shuffle=False)
    before = batches[0][0]["source"]
    batches.set_epoch(5)
    np.testing.assert_array_equal(batches[0][0]["source"], before)


@pytest.mark.parametrize("num_shapes", [1, 2, 3, 4])
def test_shapes_of_one_length_are_the_best_there_are(random, num_shapes):
    """With a constant source the choice is the best of all partitions, tried one by one."""
    targets = random.integers(1, 9, 40)
    sources = np.full(40, 5)
    shapes, members = choose_shapes(sources, targets, num_shapes)
    cost = sum(target * len(m) for (_, target), m in zip(shapes, members, strict=True))
    values = np.unique(targets)
    best = min(
        sum(min(end for end in ends if end >= length) for length in targets)
        for size in range(1, num_shapes + 1)
        for ends in itertools.combinations(values, size)
        if ends[-1] == values[-1]
    )
    assert cost == best


def test_shapes_hold_their_members(random):
    sources, targets = random.integers(1, 30, (2, 300))
    shapes, members = choose_shapes(sources, targets, 10)
    assert len(shapes) <= 10
    assert sorted(np.concatenate(members)) == list(range(300))
    for (source, target), indices in zip(shapes, members, strict=True):
        assert sources[indices].max() == source
        assert targets[indices].max() <= target


def test_errors():
    with pytest.raises(ValueError, match="at least one pair"):
        Batches([])
    with pytest.raises(ValueError, match="tokens_per_batch=3, 5 tokens long"):
        Batches([([1] * 5, [1, 2])], tokens_per_batch=3)
