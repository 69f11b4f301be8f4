"""Who may attend to whom: the two masks of the paper, boolean, True = may attend."""

from keras import ops


def padding_mask(ids, pad_id: int = 0):
    """Marks the real tokens of a padded batch.

    Args:
        ids: Integer tensor `(batch, length)`.
        pad_id: The id that fills short sequences up.

    Returns:
        Boolean tensor `(batch, 1, 1, length)`, False where `ids` is padding. The two axes of
        size one broadcast over heads and query positions.
    """
    return ops.not_equal(ids, pad_id)[:, None, None, :]


def causal_mask(length):
    """Lets every position see itself and the positions before it (§3.2.3 of Vaswani et al. 2017).

    Args:
        length: Number of positions, an int or a scalar tensor.

    Returns:
        Boolean tensor `(length, length)`, lower triangle True: rows are queries, columns keys.
    """
    position = ops.arange(length)
    return position[:, None] >= position[None, :]
