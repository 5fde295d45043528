"""The two models that PPO trains, opened by transformers and PEFT, and a step of both."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peft
import torch
import transformers
from losses import Batch, Choices, clip_loss, kl, value_loss
from safetensors.torch import load_file
from torch import Tensor

Ids = list[list[int]]
Masks = list[list[bool]]


class Role:
    """A base with one adapter."""

    def __init__(self, folder: Path, dtype: torch.dtype, name: str) -> None:
        base = transformers.AutoModelForCausalLM.from_pretrained(
            folder / "base", dtype=torch.float32
        )
        self.name = name
        self.model = peft.PeftModel.from_pretrained(base, folder / name, is_trainable=True)
        self.model.to(dtype).eval()
        if dtype == torch.float64:
            stay_in_float64(base)

    def trained(self) -> dict[str, torch.nn.Parameter]:
        """By the names of PEFT's file."""
        named = self.model.named_parameters()
        return {key.replace(".default.", "."): p for key, p in named if p.requires_grad}

    def weights(self) -> dict[str, Tensor]:
        return {f"{self.name}.{key}": p.detach().clone() for key, p in self.trained().items()}

    def hidden(self, prompts: Ids, responses: Ids, masks: Masks) -> Tensor:
        """Final-normed states before each sampled token, [N, hidden]; each sequence runs alone."""
        decoder = self.model.get_base_model().model
        rows = []
        for prompt, response, mask in zip(prompts, responses, masks, strict=True):
            states = decoder(torch.tensor([prompt + response])).last_hidden_state[0]
            rows.append(states[len(prompt) - 1 : -1][torch.tensor(mask)])
        return torch.cat(rows)


class Policy(Role):
    def __init__(self, folder: Path, dtype: torch.dtype, temperature: float) -> None:
        super().__init__(folder, dtype, "policy")
        self.temperature = temperature

    def logprobs(self, prompts: Ids, responses: Ids, masks: Masks) -> tuple[Tensor, Tensor]:
        """log π of each sampled token, and the entropy of its distribution."""
        logits = self.model.get_base_model().lm_head(self.hidden(prompts, responses, masks))
        all_logprobs = torch.log_softmax(logits / self.temperature, -1)
        whole = torch.tensor([token for response in responses for token in response])
        tokens = whole[torch.tensor([is_sampled for mask in masks for is_sampled in mask])]
        entropies = -(all_logprobs.exp() * all_logprobs).sum(-1)
        return all_logprobs.gather(-1, tokens[:, None])[:, 0], entropies


class Value(Role):
    def __init__(self, folder: Path, dtype: torch.dtype) -> None:
        super().__init__(folder, dtype, "value")
        head = load_file(folder / "value" / "value_head.safetensors")["score.weight"]
        self.head = torch.nn.Parameter(head.to(dtype))

    def trained(self) -> dict[str, torch.nn.Parameter]:
        return {**super().trained(), "score.weight": self.head}

    def values(self, prompts: Ids, responses: Ids, masks: Masks) -> Tensor:
        return self.hidden(prompts, responses, masks) @ self.head[0]


def stay_in_float64(model: torch.nn.Module) -> None:
    """Norms and rotary tables that do not convert to float32 as transformers does."""
    config = model.config
    half = torch.arange(0, config.head_dim, 2, dtype=torch.float64) / config.head_dim
    frequencies = config.rope_parameters["rope_theta"] ** -half

    def rotary(x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = torch.cat([position_ids[..., None] * frequencies] * 2, -1)
        return angles.cos(), angles.sin()

    def norm(module: torch.nn.Module, x: Tensor) -> Tensor:
        mean_square = x.pow(2).mean(-1, keepdim=True)
        return module.weight * x * torch.rsqrt(mean_square + module.variance_epsilon)

    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = norm.__get__(module)
        elif type(module).__name__.endswith("RotaryEmbedding"):
            module.forward = rotary


class Trainer:
    """A model with its optimiser."""

    def __init__(self, role: Role, options: dict[str, Any], learning_rate: float) -> None:
        self.role, self.options = role, options
        self.parameters = list(role.trained().values())
        self.optimizer = torch.optim.AdamW(
            self.parameters,
            lr=learning_rate,
            betas=(0.9, 0.999),
            eps=options["adamEps"],
            weight_decay=options["weightDecay"],
        )

    def step(self, loss: Tensor) -> float:
        """Returns the norm of the gradient before clipping."""
        self.optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.options["maxGradNorm"])
        self.optimizer.step()
        return norm.item()


@dataclass(frozen=True)
class Step:
    numbers: dict[str, Any]
    """Of the models before the step."""
    weights: dict[str, Tensor]
    """After it."""


def train(policy: Trainer, value: Trainer, batch: Batch, choices: Choices) -> Step:
    """One optimiser step of both models over the whole batch."""
    options, tokens = policy.options, (batch.prompts, batch.responses, batch.masks)
    logprobs, entropies = policy.role.logprobs(*tokens)
    values = value.role.values(*tokens)
    clip = clip_loss(logprobs, batch, options, choices)
    to_reference = kl(logprobs, batch.ref_logprobs, options["klEstimator"]).mean()
    loss_of_policy = clip - options["entropyCoef"] * entropies.mean()
    if options["klPlacement"] == "loss":
        loss_of_policy = loss_of_policy + options["klCoef"] * to_reference
    loss_of_value = value_loss(values, batch, options, choices)
    numbers = {
        "policyLoss": loss_of_policy.item(),
        "policyLossParts": {
            "clip": clip.item(),
            "entropy": entropies.mean().item(),
            "kl": to_reference.item(),
        },
        "valueLoss": loss_of_value.item(),
        "newLogprobs": logprobs.detach(),
        "entropies": entropies.detach(),
        "newValues": values.detach(),
        "policyGradNorm": policy.step(loss_of_policy),
        "valueGradNorm": value.step(options["valueLossCoef"] * loss_of_value),
    }
    return Step(numbers, {**policy.role.weights(), **value.role.weights()})
