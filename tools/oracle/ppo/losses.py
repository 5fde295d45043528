"""PPO's losses over columns of response tokens, and how close each clipping decision is to its bound."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Columns of all sampled tokens, sequences end to end."""

    prompts: list[list[int]]
    responses: list[list[int]]
    """With the tokens of the environment."""
    masks: list[list[bool]]
    """Which tokens of a response are sampled."""
    old_logprobs: Tensor
    ref_logprobs: Tensor
    advantages: Tensor
    returns: Tensor
    old_values: Tensor

    def by_sequence(self, column: Tensor) -> Tensor:
        """Mean over the tokens of each sequence."""
        parts = column.split(self.lengths())
        return torch.stack([part.mean() for part in parts])

    def lengths(self) -> list[int]:
        """Number of sampled tokens per sequence."""
        return [sum(mask) for mask in self.masks]


@dataclass
class Choices:
    """How often each bound clips a term, and the smallest distance to a bound."""

    counts: dict[str, int] = field(default_factory=dict)
    margin: float = float("inf")
    """The smallest distance to a bound."""
    free: float = 1
    """The smallest fraction of ratios with a gradient, over all steps."""

    def see(self, name: str, excess: Tensor, matters: Tensor | None = None) -> None:
        """`excess` is above 0 where the bound clips; `matters` marks where it can clip at all."""
        seen = excess if matters is None else excess[matters]
        self.counts[name] = self.counts.get(name, 0) + int((seen > 0).sum())
        if len(seen) > 0:
            self.margin = min(self.margin, seen.abs().min().item())


def kl(new: Tensor, ref: Tensor, estimator: str) -> Tensor:
    """d = log π − log π_ref; k1 = d, k3 = e^(−d) − 1 + d."""
    d = new - ref
    return d if estimator == "k1" else torch.exp(-d) - 1 + d


def clip_loss(new: Tensor, batch: Batch, options: dict[str, Any], choices: Choices) -> Tensor:
    """−mean min(ρA, clip(ρ, 1 − ε_low, 1 + ε_high)A), where A < 0 at least dualClip · A.

    The mean is over tokens. At the level of sequences all tokens of one have
    ρ = exp(mean_t(new − old)), and the mean is over its tokens, then over sequences.
    """
    log_ratio, advantages = new - batch.old_logprobs, batch.advantages
    if options["ratioLevel"] == "sequence":
        lengths = torch.tensor(batch.lengths())
        log_ratio = batch.by_sequence(log_ratio).repeat_interleave(lengths)
    ratio = log_ratio.exp()
    epsilon = options["clipEpsilon"]
    low, high = 1 - epsilon, 1 + options.get("clipEpsilonHigh", epsilon)
    objective = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    choices.see("high", ratio - high, advantages > 0)
    choices.see("low", low - ratio, advantages < 0)
    if "dualClip" in options:
        bound = options["dualClip"]
        held = torch.maximum(objective, bound * advantages)
        objective = torch.where(advantages < 0, held, objective)
        choices.see("dual", ratio - bound, advantages < 0)
    slopes = torch.autograd.grad(objective.sum(), log_ratio, retain_graph=True)[0]
    choices.free = min(choices.free, (slopes != 0).double().mean().item())
    if options["ratioLevel"] == "sequence":
        return -batch.by_sequence(objective).mean()
    return -objective.mean()


def value_loss(values: Tensor, batch: Batch, options: dict[str, Any], choices: Choices) -> Tensor:
    """mean (v − G)², or ½ mean max((v − G)², (clip(v, v_old ± c) − G)²)."""
    errors = (values - batch.returns) ** 2
    if options["valueLoss"] == "mse":
        return errors.mean()
    c, old = options["valueClip"], batch.old_values
    clipped_errors = (torch.clamp(values, old - c, old + c) - batch.returns) ** 2
    moved = (values - old).abs() - c
    choices.see("value moved", moved)
    choices.see("value clipped", clipped_errors - errors, moved > 0)
    return 0.5 * torch.maximum(errors, clipped_errors).mean()
