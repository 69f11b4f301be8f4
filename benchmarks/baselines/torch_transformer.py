"""PyTorch's `nn.Transformer` with the sizes and batches of this package."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn


class TorchTransformer(nn.Module):
    """`nn.Transformer` with embeddings, sinusoidal positions and an output projection."""

    def __init__(self, layers: int, d_model: int, heads: int, d_ff: int, rate: float, vocab: int):
        super().__init__()
        self.d_model = d_model
        self.source, self.target = nn.Embedding(vocab, d_model), nn.Embedding(vocab, d_model)
        self.transformer = nn.Transformer(
            d_model, heads, layers, layers, d_ff, rate, batch_first=True
        )
        self.dropout = nn.Dropout(rate)
        self.projection = nn.Linear(d_model, vocab)
        angles = torch.arange(1000)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(1000, d_model)
        self.register_buffer("positions", encoding)

    def _embed(self, embedding, ids):
        embedded = embedding(ids) * math.sqrt(self.d_model)
        return self.dropout(embedded + self.positions[: ids.shape[1]])

    def forward(self, source, target):
        """Returns the logits `(batch, target_len, vocab)`."""
        padding = source == 0
        causal = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        hidden = self.transformer(
            self._embed(self.source, source),
            self._embed(self.target, target),
            tgt_mask=causal,
            src_key_padding_mask=padding,
            tgt_key_padding_mask=target == 0,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return self.projection(hidden)


def make_step(layers: int, d_model: int, heads: int, d_ff: int, rate: float, vocab: int):
    """Returns a train step: a function of source, target input and target output ids."""
    model = TorchTransformer(layers, d_model, heads, d_ff, rate, vocab).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4000**-1.5)
    )
    cross_entropy = nn.CrossEntropyLoss(ignore_index=0)

    def step(source: np.ndarray, target_input: np.ndarray, target_output: np.ndarray) -> float:
        inputs = [torch.from_numpy(ids.astype("int64")) for ids in (source, target_input)]
        loss = cross_entropy(
            model(*inputs).flatten(0, 1), torch.from_numpy(target_output.astype("int64")).flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        return float(loss.detach())

    return step
