from transformer_tf.text.segments import Segment
from transformer_tf.translation import Translation, join_translations


def test_the_translations_of_segments_are_joined():
    segments = [Segment("A b.", []), Segment("C.", [], first_word=2)]
    first = [
        Translation("X.", ["x"], -1.0, -2.0, [-2.0], [(1, 0)]),
        Translation("Y.", ["y"], -3.0, -4.0, [-4.0], [(0, 0)]),
    ]
    second = [Translation("Z z.", ["z", "z"], -5.0, -6.0, [-1.0, -5.0], [(0, 0), (0, 1)])]
    assert join_translations(segments, [first, second]) == [
        Translation(
            "X. Z z.", list("xzz"), -6.0, -8.0, [-2.0, -1.0, -5.0], [(1, 0), (2, 1), (2, 2)]
        ),
        Translation(
            "Y. Z z.", list("yzz"), -8.0, -10.0, [-4.0, -1.0, -5.0], [(0, 0), (2, 1), (2, 2)]
        ),
    ]
    assert join_translations(segments[:1], [first]) == first
    assert join_translations([], []) == [Translation("", [], 0.0, 0.0, [], [])]
    unscored = [Translation("X.", ["x"], -1.0)]
    assert join_translations(segments, [unscored, second])[0] == Translation(
        "X. Z z.", list("xzz"), -6.0
    )
