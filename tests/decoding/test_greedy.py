import numpy as np

from transformer_tf.decoding import greedy_search

START, END = 8, 9


def scripted(*rows):
    """A step function that says the tokens of each row in turn, and END after them."""

    def step(target):
        scores = np.zeros((len(rows), 10))
        for index, row in enumerate(rows):
            position = target.shape[1] - 1
            assert target[index, 0] == START
            said = row[:position] if position <= len(row) else row
            np.testing.assert_array_equal(target[index, 1 : 1 + len(said)], said)
            scores[index, row[position] if position < len(row) else END] = 1
        step.calls += 1
        return scores

    step.calls = 0
    return step


def test_each_row_ends_at_its_own_end():
    step = scripted([3, 4, 5], [7], [])
    assert greedy_search(step, np.array([20, 20, 20]), START, END) == [[3, 4, 5], [7], []]
    assert step.calls == 4  # not one more than the longest needs


def test_cut_at_the_maximum_length_of_each_row():
    step = scripted([3, 4, 5, 6], [3, 4, 5, 6], [3])
    assert greedy_search(step, np.array([2, 3, 0]), START, END) == [[3, 4], [3, 4, 5], []]
    assert step.calls == 3
