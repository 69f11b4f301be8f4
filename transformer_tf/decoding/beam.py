"""Beam search: the best of several hypotheses that are extended side by side."""

from __future__ import annotations

from keras import ops

from transformer_tf.decoding.search import IMPOSSIBLE, Search, State, keep
from transformer_tf.hypothesis import Hypothesis


class BeamSearch(Search):
    """Keeps the `beam_size` likeliest beginnings of each translation.

    Of all extensions of the live hypotheses the best 2 · `beam_size` are looked at. An end among
    the first `beam_size` of them closes a hypothesis, which is kept aside with its score and takes
    no place any more; the best others live on. A sentence is done when no live hypothesis can
    overtake the n-th best closed one, n = `n_best`, whatever it becomes: its log-probability can
    only fall, so that its score is at most log-probability / penalty(limit).

    The score of Wu et al. 2016 (GNMT), equation 14: log P(Y|X) / lp(Y) + cp(X; Y) with
    lp(Y) = ((5 + |Y|) / 6)^α and cp = β Σ log(min(Σ attention, 1)), α the length penalty, β the
    coverage penalty, |Y| counting the end.
    """

    by_position = ("tokens", "parents", "log_probs")
    outputs = (
        "tokens",
        "parents",
        "log_probs",
        "scores",
        "length",
        "closed",
        "closed_log_prob",
        "closed_last",
        "closed_parent",
        "closed_length",
    )

    def __init__(self, options, end_id, compiled=True):
        super().__init__(options, end_id, compiled)
        self.beam_size = options.beam_size

    def start(self, batch_size, slots, source_len) -> State:
        shape = (batch_size, self.beam_size)
        # All hypotheses are one at first.
        scores = ops.where(ops.arange(self.beam_size) == 0, 0.0, IMPOSSIBLE)
        state = {
            "scores": ops.broadcast_to(scores[None], shape),  # log-probabilities
            "length": ops.zeros((batch_size,), "int32"),
            "tokens": ops.zeros((*shape, slots), "int32"),
            "parents": ops.zeros((*shape, slots), "int32"),
            "log_probs": ops.zeros((*shape, slots), "float32"),
            "closed": ops.full(shape, IMPOSSIBLE, "float32"),
            "closed_log_prob": ops.zeros(shape, "float32"),
            "closed_last": ops.zeros(shape, "float32"),
            "closed_parent": ops.zeros(shape, "int32"),
            "closed_length": ops.zeros(shape, "int32"),
        }
        if self.options.coverage_penalty:
            state["coverage"] = ops.zeros((*shape, source_len), "float32")
        return state

    def advance(self, state, logits, attention, slot):
        vocab_size = logits.shape[-1]
        norm = ops.logsumexp(logits, axis=-1, keepdims=True)  # (batch, beam, 1)
        totals = self.constrain(state, logits) + (state["scores"][..., None] - norm)
        totals = ops.reshape(totals, (-1, self.beam_size * vocab_size))
        totals, index = self.top_k(totals, min(2 * self.beam_size, totals.shape[-1]))
        parent, token = index // vocab_size, index % vocab_size
        log_prob = totals - _pick(state["scores"], parent)

        done, position = state["done"], state["position"]
        ends = token == self.end_id
        state = self._close(state, totals, token, parent, log_prob, attention)
        scores, index = self.top_k(ops.where(ends, IMPOSSIBLE, totals), self.beam_size)
        token, parent, log_prob = (_pick(x, index) for x in (token, parent, log_prob))
        state = {
            **state,
            "token": token,
            "parent": parent,
            "tokens": keep(state["tokens"], slot, token),
            "parents": keep(state["parents"], slot, parent),
            "log_probs": keep(state["log_probs"], slot, log_prob),
            "scores": ops.where(done[:, None], state["scores"], scores),
            "length": ops.where(done, state["length"], position + 1),
        }
        if "coverage" in state:
            state["coverage"] = ops.take_along_axis(
                state["coverage"] + attention, parent[..., None], axis=1
            )
        hope = scores[:, 0] / self._length_penalty(state["limit"])
        overtaken = state["closed"][:, self.options.n_best - 1] >= hope
        return {**state, "done": done | overtaken | (position + 1 >= state["limit"])}

    def _close(self, state, totals, token, parent, log_prob, attention):
        """Takes the candidates that end among the closed hypotheses, as far as they are better."""
        position = state["position"]
        rank = ops.arange(totals.shape[1])[None]
        closing = (token == self.end_id) & (rank < self.beam_size) & (totals > IMPOSSIBLE / 2)
        score = totals / self._length_penalty(position + 1)[:, None]
        if "coverage" in state:
            coverage = ops.minimum(state["coverage"] + attention, 1.0)
            # Where there is no source token there is no attention, and no need of any.
            penalty = ops.sum(ops.where(coverage > 0, ops.log(coverage), 0.0), axis=-1)
            score = score + self.options.coverage_penalty * _pick(penalty, parent)
        closing = closing & ~state["done"][:, None]
        new = {
            "closed": ops.where(closing, score, IMPOSSIBLE),
            "closed_log_prob": totals,
            "closed_last": log_prob,
            "closed_parent": parent,
            "closed_length": ops.broadcast_to(position[:, None], ops.shape(parent)),
        }
        both = {name: ops.concatenate([state[name], new[name]], axis=1) for name in new}
        _, index = self.top_k(both["closed"], self.beam_size)
        return {**state, **{name: _pick(values, index) for name, values in both.items()}}

    def _length_penalty(self, length):
        return ((5.0 + ops.cast(length, "float32")) / 6.0) ** self.options.length_penalty

    def hypotheses(self, found):
        closed = [
            self._trace(
                found,
                int(found["closed_parent"][rank]),
                int(found["closed_length"][rank]),
                float(found["closed"][rank]),
                float(found["closed_log_prob"][rank]),
                float(found["closed_last"][rank]),
            )
            for rank in range(self.options.n_best)
            if found["closed"][rank] > IMPOSSIBLE / 2
        ]
        # Where fewer have come to an end there are those that were cut.
        length = int(found["length"])
        penalty = ((5 + length) / 6) ** self.options.length_penalty
        cut = [
            self._trace(found, beam, length, float(score) / penalty, float(score))
            for beam, score in enumerate(found["scores"])
            if score > IMPOSSIBLE / 2
        ]
        return (closed + cut)[: self.options.n_best]

    def _trace(self, found, beam, length, score, log_prob, last=None) -> Hypothesis:
        """Follows a hypothesis back to its beginning."""
        ids, log_probs = [], [] if last is None else [last]
        for position in range(length - 1, -1, -1):
            ids.append(int(found["tokens"][beam, position]))
            log_probs.append(float(found["log_probs"][beam, position]))
            beam = int(found["parents"][beam, position])
        return Hypothesis(ids[::-1], score, log_prob, log_probs[::-1])


def _pick(x, index):
    return ops.take_along_axis(x, index, axis=1)
