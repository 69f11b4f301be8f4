"""Beam search: several hypotheses of each translation, extended side by side."""

from __future__ import annotations

from keras import ops

from transformer_tf.decoding.hypothesis import Hypothesis
from transformer_tf.decoding.search import NEG_INF, Search, State, write_step


class BeamSearch(Search):
    """Keeps the `beam_size` likeliest unfinished hypotheses of each translation.

    Each step ranks the extensions of all unfinished hypotheses and takes the best
    2 · `beam_size`. Those among the first `beam_size` that end are finished: they are stored with
    their scores and leave the beam. The best others remain in the beam. The search of a sentence
    is done when no unfinished hypothesis can still overtake the n-th best finished one,
    n = `n_best`. The bound is log-probability / penalty(limit), since a log-probability can only
    fall.

    The score of a hypothesis Y is log P(Y|X) / lp(Y) with lp(Y) = ((5 + |Y|) / 6)^α, where α is
    the length penalty and |Y| counts the end token (Wu et al. 2016, equation 14).
    """

    outputs = (
        "tokens",
        "parents",
        "log_probs",
        "totals",
        "length",
        "finished_scores",
        "finished_totals",
        "finished_end_log_probs",
        "finished_parents",
        "finished_lengths",
    )

    def __init__(self, options, end_id, compiled=True):
        super().__init__(options, end_id, compiled)
        self.beam_size = options.beam_size

    def start(self, batch_size, max_length) -> State:
        shape = (batch_size, self.beam_size)
        # All hypotheses are equal at first, so all but one are ruled out.
        totals = ops.where(ops.arange(self.beam_size) == 0, 0.0, NEG_INF)
        return {
            "totals": ops.broadcast_to(totals[None], shape),  # log-probabilities
            "length": ops.zeros((batch_size,), "int32"),
            # Each step's tokens: `parents` leads from a hypothesis to the one it extends.
            "tokens": ops.zeros((*shape, max_length), "int32"),
            "parents": ops.zeros((*shape, max_length), "int32"),
            "log_probs": ops.zeros((*shape, max_length), "float32"),
            "finished_scores": ops.full(shape, NEG_INF, "float32"),
            "finished_totals": ops.zeros(shape, "float32"),
            "finished_end_log_probs": ops.zeros(shape, "float32"),
            "finished_parents": ops.zeros(shape, "int32"),
            "finished_lengths": ops.zeros(shape, "int32"),
        }

    def advance(self, state, logits, step):
        vocab_size = logits.shape[-1]
        log_normalizer = ops.logsumexp(logits, axis=-1, keepdims=True)  # (batch, beam_size, 1)
        totals = self.constrain(state, logits, step) + (state["totals"][..., None] - log_normalizer)
        totals = ops.reshape(totals, (-1, self.beam_size * vocab_size))
        totals, index = self.top_k(totals, min(2 * self.beam_size, totals.shape[-1]))
        parent, token = index // vocab_size, index % vocab_size
        log_prob = totals - _pick(state["totals"], parent)

        state = self._store_finished(state, totals, token, parent, log_prob, step)
        unfinished = ops.where(token == self.end_id, NEG_INF, totals)
        totals, index = self.top_k(unfinished, self.beam_size)
        token, parent, log_prob = (_pick(x, index) for x in (token, parent, log_prob))
        done = state["done"]
        best_possible_score = totals[:, 0] / self._length_penalty(state["limit"])
        decided = state["finished_scores"][:, self.options.n_best - 1] >= best_possible_score
        return {
            **state,
            "token": token,
            "parent": parent,
            "tokens": write_step(state["tokens"], step, token),
            "parents": write_step(state["parents"], step, parent),
            "log_probs": write_step(state["log_probs"], step, log_prob),
            "totals": ops.where(done[:, None], state["totals"], totals),
            "length": ops.where(done, state["length"], step + 1),
            "done": done | decided | (step + 1 >= state["limit"]),
        }

    def _store_finished(self, state, totals, token, parent, log_prob, step):
        """Merges the candidates that end into the `beam_size` best finished hypotheses."""
        rank = ops.arange(totals.shape[1])
        ends = (token == self.end_id) & (rank < self.beam_size) & (totals > NEG_INF / 2)
        ends = ends & ~state["done"][:, None]
        new = {
            "finished_scores": ops.where(ends, totals / self._length_penalty(step + 1), NEG_INF),
            "finished_totals": totals,
            "finished_end_log_probs": log_prob,
            "finished_parents": parent,
            "finished_lengths": ops.zeros_like(parent) + step,
        }
        merged = {name: ops.concatenate([state[name], new[name]], axis=1) for name in new}
        _, index = self.top_k(merged["finished_scores"], self.beam_size)
        return {**state, **{name: _pick(values, index) for name, values in merged.items()}}

    def _length_penalty(self, length):
        return ((5.0 + ops.cast(length, "float32")) / 6.0) ** self.options.length_penalty

    def hypotheses(self, found):
        finished = [
            self._trace_back(
                found,
                int(found["finished_parents"][rank]),
                int(found["finished_lengths"][rank]),
                float(found["finished_scores"][rank]),
                float(found["finished_totals"][rank]),
                [float(found["finished_end_log_probs"][rank])],
            )
            for rank in range(self.options.n_best)
            if found["finished_scores"][rank] > NEG_INF / 2
        ]
        # If too few are finished, those that were cut at the maximum length follow.
        length = int(found["length"])
        penalty = ((5 + length) / 6) ** self.options.length_penalty
        cut = [
            self._trace_back(found, beam, length, float(total) / penalty, float(total), [])
            for beam, total in enumerate(found["totals"])
            if total > NEG_INF / 2
        ]
        return (finished + cut)[: self.options.n_best]

    def _trace_back(self, found, beam, length, score, total, end_log_probs) -> Hypothesis:
        """Follows a hypothesis from its last token to its first."""
        ids, log_probs = [], []
        for step in reversed(range(length)):
            ids.append(int(found["tokens"][beam, step]))
            log_probs.append(float(found["log_probs"][beam, step]))
            beam = int(found["parents"][beam, step])
        return Hypothesis(ids[::-1], score, total, log_probs[::-1] + end_log_probs)


def _pick(x, index):
    return ops.take_along_axis(x, index, axis=1)
