"""The whole Transformer in one file, in the order of "Attention Is All You Need" (2017).

`python examples/one_file.py` learns sub-words, trains an English-German translator on the
phrasebook of this repository, translates held-out sentences and draws where the model looks.
It uses NumPy and Keras, matplotlib for the picture, and nothing of the package.
"""

import gzip
from collections import Counter
from pathlib import Path

import keras
import numpy as np
from keras import layers, ops

PHRASEBOOK = Path(__file__).parents[1] / "transformer_tf/text/corpora/phrasebook.tsv.gz"
PAD, START, END, UNKNOWN = SPECIAL = range(4)


# Data (§5.1): sentence pairs, and the split that each belongs to.


def load_pairs(split):
    """Reads the (English, German) pairs of `train`, `validation` or `test`."""
    text = gzip.decompress(PHRASEBOOK.read_bytes()).decode()
    rows = [row.split("\t") for row in text.splitlines()]
    return [(english, german) for english, german, name, *_ in rows if name == split]


# Sub-words (§5.1): byte-pair encoding joins the most frequent pair of neighbors, again and again.


class BytePairs:
    """Frequent words are one symbol, rare ones are several. A word begins with `_`."""

    def __init__(self, sentences, num_merges):
        counts = Counter(word for sentence in sentences for word in split_words(sentence))
        words = {word: list(word) for word in counts}
        letters = sorted({letter for word in words for letter in word})
        self.merges = []
        for _ in range(num_merges):
            pairs = Counter()
            for word, symbols in words.items():
                for pair in zip(symbols, symbols[1:]):
                    pairs[pair] += counts[word]
            if not pairs:
                break
            best = max(pairs, key=pairs.get)
            self.merges.append(best)
            words = {word: join(symbols, best) for word, symbols in words.items()}
        self.symbols = ["<pad>", "<start>", "<end>", "<unknown>", *letters]
        self.symbols += dict.fromkeys("".join(pair) for pair in self.merges)
        self.ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        self.cache = {word: [self.ids[symbol] for symbol in words[word]] for word in words}

    def encode(self, sentence):
        """Turns a sentence into ids, from <start> to <end>."""
        ids = [START]
        for word in split_words(sentence):
            if word not in self.cache:
                symbols = list(word)
                for pair in self.merges:
                    symbols = join(symbols, pair)
                self.cache[word] = [self.ids.get(symbol, UNKNOWN) for symbol in symbols]
            ids += self.cache[word]
        return [*ids, END]

    def decode(self, ids):
        """Turns ids into a sentence."""
        text = "".join(self.symbols[i] for i in ids if i not in SPECIAL)
        for mark in ".,?!":
            text = text.replace("_" + mark, mark)
        return text.replace("_", " ").strip()


def split_words(sentence):
    """Cuts off punctuation, and marks where each word begins."""
    for mark in ".,?!":
        sentence = sentence.replace(mark, " " + mark)
    return ["_" + word for word in sentence.split()]


def join(symbols, pair):
    """Joins each occurrence of a pair of neighbors."""
    joined = []
    for symbol in symbols:
        if joined and (joined[-1], symbol) == pair:
            joined[-1] += symbol
        else:
            joined.append(symbol)
    return joined


def pad(rows):
    """Fills rows of ids up to the longest: (batch, length)."""
    array = np.zeros((len(rows), max(map(len, rows))), "int32")
    for line, row in zip(array, rows):
        line[: len(row)] = row
    return array


# Attention (§3.2): a weighted sum of values. The weights say how well each key answers the query.


class MultiHeadAttention(layers.Layer):
    """Several attentions side by side, each on its share of the projected numbers."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.query_projection = layers.Dense(d_model)
        self.key_projection = layers.Dense(d_model)
        self.value_projection = layers.Dense(d_model)
        self.output_projection = layers.Dense(d_model)

    def split(self, x):  # (batch, length, d_model) -> (batch, heads, length, head_dim)
        batch, length, _ = ops.shape(x)
        x = ops.reshape(x, (batch, length, self.num_heads, self.head_dim))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, query, memory, visible):
        q = self.split(self.query_projection(query))
        k = self.split(self.key_projection(memory))
        v = self.split(self.value_projection(memory))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / self.head_dim**0.5
        weights = ops.softmax(ops.where(visible, scores, -1e9))  # (batch, heads, query, key)
        mixed = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
        return self.output_projection(ops.reshape(mixed, ops.shape(query))), weights


# Layers (§3.1, §3.3): attention, then a small network at each position. A residual goes around
# each, with the norm before it, which needs less care in training than the paper's norm after it.


class Block(layers.Layer):
    """An encoder layer, or with `cross` a decoder layer."""

    def __init__(self, d_model, num_heads, d_ff, dropout_rate, cross):
        super().__init__()
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(3 if cross else 2)]
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads) if cross else None
        self.hidden = layers.Dense(d_ff, activation="relu")
        self.output_projection = layers.Dense(d_model)
        self.dropout = layers.Dropout(dropout_rate)

    def call(self, x, visible, encoded=None, source_visible=None):
        weights = None
        y = self.norms[0](x)
        x = x + self.dropout(self.self_attention(y, y, visible)[0])
        if self.cross_attention:
            y, weights = self.cross_attention(self.norms[1](x), encoded, source_visible)
            x = x + self.dropout(y)
        y = self.output_projection(self.hidden(self.norms[-1](x)))
        return x + self.dropout(y), weights


# Positions (§3.5): waves of different speeds, added to the embeddings.


def positional_encoding(length, d_model):
    """Returns the sines and cosines of all positions: (length, d_model)."""
    speeds = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(length)[:, None] * speeds
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


# The model (§3.1, §3.4): encoder, decoder, and a score for each symbol at each position.


class Transformer(keras.Model):
    """Reads the source and the translation so far, and scores each next symbol."""

    def __init__(self, source_size, target_size, num_layers, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.d_model = d_model
        self.source_embedding = layers.Embedding(source_size, d_model)
        self.target_embedding = layers.Embedding(target_size, d_model)
        self.positions = positional_encoding(256, d_model).astype("float32")
        sizes = (d_model, num_heads, d_ff, dropout)
        self.encoder = [Block(*sizes, cross=False) for _ in range(num_layers)]
        self.decoder = [Block(*sizes, cross=True) for _ in range(num_layers)]
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
        self.dropout = layers.Dropout(dropout)
        self.logits = layers.Dense(target_size)

    def embed(self, table, ids):
        x = table(ids) * self.d_model**0.5
        positions = ops.arange(ops.shape(ids)[1])
        return self.dropout(x + ops.take(self.positions, positions, axis=0))

    def attend(self, inputs):
        """Returns the logits, and the cross-attention weights of the last decoder layer."""
        source, target = inputs["source"], inputs["target"]
        source_visible = ops.not_equal(source, PAD)[:, None, None, :]
        positions = ops.arange(ops.shape(target)[1])
        causal = positions[:, None] >= positions[None, :]  # no look at the future
        encoded = self.embed(self.source_embedding, source)
        for block in self.encoder:
            encoded, _ = block(encoded, source_visible)
        encoded = self.norms[0](encoded)
        x, weights = self.embed(self.target_embedding, target), None
        for block in self.decoder:
            x, weights = block(x, causal, encoded, source_visible)
        return self.logits(self.norms[1](x)), weights

    def call(self, inputs):
        return self.attend(inputs)[0]


# Training (§5.3, §5.4): Adam with a warm-up, and label smoothing. The decoder reads the
# reference up to each position and has to say the next symbol.


class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """Rises in a line to the peak, then falls with the root of the step (§5.3)."""

    def __init__(self, peak, steps):
        self.peak, self.steps = peak, steps

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1
        return self.peak * ops.minimum(step / self.steps, (self.steps / step) ** 0.5)


def smoothed_loss(answers, logits):
    """Returns the cross-entropy of each position, with 0.1 of the answer given to all symbols."""
    log_p = ops.log_softmax(logits)
    of_answer = ops.take_along_axis(log_p, ops.expand_dims(answers, -1), axis=-1)[..., 0]
    return -0.9 * of_answer - 0.1 * ops.mean(log_p, axis=-1)


class Batches(keras.utils.PyDataset):
    """Batches of similar length, so that little of a batch is padding, in random order."""

    def __init__(self, rows, batch_size):
        super().__init__()
        rows = sorted(rows, key=lambda row: (len(row[1]), len(row[0])))
        self.batches = []
        for i in np.random.default_rng(1).permutation(range(0, len(rows), batch_size)):
            source, target = map(pad, zip(*rows[i : i + batch_size]))
            answers = target[:, 1:]
            counts = (answers != PAD).astype("float32")  # padding doesn't count
            inputs = {"source": source, "target": target[:, :-1]}
            self.batches.append((inputs, answers, counts))

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, i):
        return self.batches[i]


def train(pairs, num_merges=900, d_model=128, epochs=5, peak=4e-3, warmup=300, batch_size=128):
    """Returns a trained model and the sub-words of both languages."""
    keras.utils.set_random_seed(1)
    english = BytePairs([source for source, _ in pairs], num_merges)
    german = BytePairs([target for _, target in pairs], num_merges)
    rows = [(english.encode(source), german.encode(target)) for source, target in pairs]
    sizes = len(english.symbols), len(german.symbols)
    model = Transformer(*sizes, 2, d_model, 4, 2 * d_model, 0.1)
    model.compile(
        keras.optimizers.Adam(
            WarmUp(peak, warmup), beta_1=0.9, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0
        ),
        loss=smoothed_loss,
        jit_compile=False,  # the batches have many lengths
    )
    model.fit(Batches(rows, batch_size), epochs=epochs, verbose=2)
    return model, english, german


# Translating: greedy search appends the likeliest symbol until all sentences have ended.


def translate(model, english, german, sentences, max_length=40):
    """Translates sentences, all at once."""
    source = pad([english.encode(sentence) for sentence in sentences])
    target = np.full((len(sentences), max_length), PAD, "int32")
    target[:, 0] = START
    for length in range(1, max_length):
        logits = model.predict_on_batch({"source": source, "target": target})
        ended = np.isin(target[:, length - 1], (END, PAD))
        target[:, length] = np.where(ended, PAD, logits[:, length - 1].argmax(axis=-1))
        if (ended | (target[:, length] == END)).all():
            break
    return [german.decode(row) for row in target]


def draw(model, english, german, sentence, translation, path):
    """Draws where each step of a translation looks: the mean of the last layer's heads."""
    import matplotlib.pyplot as plt

    source, target = english.encode(sentence), german.encode(translation)
    inputs = {"source": np.array([source]), "target": np.array([target[:-1]])}
    weights = ops.convert_to_numpy(model.attend(inputs)[1])[0].mean(axis=0)
    fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
    ax.imshow(weights, cmap="Blues", vmin=0)
    ax.set_xticks(range(len(source)), [english.symbols[i] for i in source], rotation=90)
    ax.set_yticks(range(len(target) - 1), [german.symbols[i] for i in target[1:]])
    ax.set(xlabel="looks at", ylabel="writes")
    fig.savefig(path)


def main():
    model, english, german = train(load_pairs("train"))
    pairs = load_pairs("test")
    sentences = [source for source, _ in pairs]
    translations = translate(model, english, german, sentences)
    for (source, target), translation in list(zip(pairs, translations))[:5]:
        print(f"{source}\n  model:     {translation}\n  reference: {target}")
    equal = sum(translation == target for translation, (_, target) in zip(translations, pairs))
    print(f"{equal} of {len(pairs)} held-out sentences equal their reference")
    try:
        import sacrebleu
    except ImportError:
        print("pip install sacrebleu for a BLEU score")
    else:
        references = [[target for _, target in pairs]]
        print(f"BLEU {sacrebleu.corpus_bleu(translations, references).score:.1f}")
    draw(model, english, german, sentences[0], translations[0], "one_file.png")
    print("one_file.png shows where the model looked")


if __name__ == "__main__":
    main()
