"""Translates with ONNX Runtime alone: no TensorFlow, no Keras, nothing of transformer_tf.

    python scripts/export.py --format onnx --output translator-onnx
    python -m pip install onnxruntime sentencepiece
    python examples/translate_onnx.py translator-onnx "Where is the station?"

It searches greedily, all sentences in one batch. What is too long for the model loses its end.
"""

import json
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np
import onnxruntime
import sentencepiece


class Translator:
    """What `scripts/export.py --format onnx` wrote.

    Args:
        folder: Where it wrote it.
    """

    def __init__(self, folder):
        folder = Path(folder)
        self.settings = json.loads((folder / "translator.json").read_text())
        self.encoder = onnxruntime.InferenceSession(folder / "encoder.onnx")
        self.step = onnxruntime.InferenceSession(folder / "step.onnx")
        tokenizers = folder / "tokenizers"
        self.source = sentencepiece.SentencePieceProcessor(str(tokenizers / "source.model"))
        self.target = sentencepiece.SentencePieceProcessor(str(tokenizers / "target.model"))
        pieces = (self.target.id_to_piece(index) for index in range(len(self.target)))
        # Private-use characters are placeholders for values, which this example has not.
        self.placeholders = [i for i, piece in enumerate(pieces) if "\ue000" <= piece <= "\ue00f"]

    def translate(self, texts):
        """The likeliest tokens, one after the other, until every sentence has ended."""
        settings = self.settings
        texts = [" ".join(unicodedata.normalize("NFC", text).split()) for text in texts]
        if not all(texts):  # an empty text stays empty
            translations = iter(self.translate([text for text in texts if text]))
            return [next(translations) if text else "" for text in texts]
        if not texts:
            return []
        source = self._read(texts)
        (cross_cache,) = self.encoder.run(["cross_attention_cache"], {"source": source})
        past = np.zeros((*cross_cache.shape[:4], 0, cross_cache.shape[5]), "float32")
        token = np.full((len(texts), 1), settings["start_id"], "int32")
        lengths = (source != settings["pad_id"]).sum(1)
        limit = np.minimum(
            settings["max_length"],
            settings["max_length_ratio"] * lengths + settings["max_extra_length"],
        )
        said = []
        ended = np.zeros(len(texts), bool)
        while not ended.all():
            logits, past = self.step.run(
                ["logits", "present"],
                {
                    "token": token,
                    "past": past,
                    "cross_attention_cache": cross_cache,
                    "source": source,
                },
            )
            logits[:, self.placeholders] = -np.inf
            token = logits.argmax(1).astype("int32")[:, None]
            ended |= token[:, 0] == settings["end_id"]
            said.append(np.where(ended, settings["end_id"], token[:, 0]))
            ended |= len(said) >= limit
        return [self._write(ids) for ids in np.array(said).T.tolist()]

    def _read(self, texts):
        settings = self.settings
        rows = []
        for text in texts:
            if settings["lowercase"]:  # the official BPEmb models
                text = re.sub(r"\d", "0", text.lower())
            # The pieces' index 0 is the unknown one; id 0 is padding here.
            ids = [index or settings["unk_id"] for index in self.source.encode(text)]
            ids = ids[: settings["max_source_length"]]
            rows.append([settings["source_start_id"], *ids, settings["source_end_id"]])
        source = np.full((len(rows), max(map(len, rows))), settings["pad_id"], "int32")
        for row, ids in zip(source, rows, strict=True):
            row[: len(ids)] = ids
        return source

    def _write(self, ids):
        settings = self.settings
        left_out = settings["pad_id"], settings["start_id"], settings["end_id"]
        ids = [index for index in ids if index not in left_out]
        text = self.target.decode([0 if index == settings["unk_id"] else index for index in ids])
        return " ".join(text.split())


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    for translation in Translator(sys.argv[1]).translate(sys.argv[2:]):
        print(translation)
