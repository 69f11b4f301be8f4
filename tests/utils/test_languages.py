from transformer_tf.utils.languages import language_name


def test_names_of_languages():
    assert language_name("de") == "German"
    assert language_name("xx") == "xx"  # one without a name keeps its code
