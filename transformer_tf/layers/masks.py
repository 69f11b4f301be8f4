"""The padding mask and the causal mask: boolean, True = may attend."""

from keras import ops


def padding_mask(ids, pad_id: int = 0):
    """Masks the padding of a batch.

    Args:
        ids: Integer tensor `(batch, length)`.
        pad_id: The padding id.

    Returns:
        Boolean tensor `(batch, 1, 1, length)`, False at padding. The two axes of size one
        broadcast over heads and query positions.
    """
    return ops.not_equal(ids, pad_id)[:, None, None, :]


def causal_mask(length):
    """Lets each position attend to itself and earlier ones (§3.2.3 of Vaswani et al. 2017).

    Args:
        length: Number of positions, an int or a scalar tensor.

    Returns:
        Boolean tensor `(length, length)` whose lower triangle is True. Rows are queries, columns
        are keys.
    """
    position = ops.arange(length)
    return position[:, None] >= position[None, :]
