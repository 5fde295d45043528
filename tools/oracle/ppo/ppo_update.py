"""Writes the goldens of one whole PPO update on tiny models to test/fixtures/ppo-update.

`<model>/base` is a random model of transformers, `<model>/policy` and `<model>/value` are PEFT's
adapters for it, both matrices far from zero, and `<model>/value/value_head.safetensors` has the
value head `score.weight` [1, hidden] on the final-normed hidden state. `<case>/golden.json` has a
rollout of random tokens, with columns over all sampled tokens, sequences end to end, and the
values before each of three optimiser steps over the whole rollout: `policyLoss` is
what is differentiated, `policyLossParts` are its means without their coefficients, `valueLoss` is
without its coefficient, gradient norms are before clipping. `<case>/after-<step>.safetensors` has
the trained weights, as `policy.<name in PEFT's file>` and `value.<name>`.

Logprobs are of logits / temperature, sequences run one by one without padding, each of the two models
has an AdamW with betas (0.9, 0.999). Everything is computed in float32. Each rollout uses the first seed
with which no ratio or value is close to a bound that would change what is differentiated, and at
least half of the ratios are free in each step. The same is then done in float64 from the same
inputs, and the largest differences are printed. Run with a Python that has torch, transformers,
peft and safetensors, then let Biome format the JSON:

    python tools/oracle/ppo/ppo_update.py
    npx biome check --write test/fixtures/ppo-update
"""

import json
import shutil
from typing import Any

import torch
import transformers
from cases import (
    CASES,
    MODELS,
    OBSERVED,
    PROMPT_LENGTHS,
    RESPONSE_LENGTHS,
    SHARED,
    VOCABULARY,
    Case,
)
from fixtures import FIXTURES, SCRIPT, VERSIONS, make_model, save
from losses import Batch, Choices, kl
from torch import Tensor
from trainer import Policy, Step, Trainer, Value, train

SMALLEST_MARGIN = 5e-3
SMALLEST_FREE = 0.5
KEPT_STEPS = (1, 3)


def open_models(case: Case, dtype: torch.dtype) -> tuple[Policy, Value]:
    folder = FIXTURES / case.model
    return Policy(folder, dtype, SHARED["temperature"]), Value(folder, dtype)


@torch.no_grad()
def draw_batch(case: Case, seed: int) -> Batch:
    """Random tokens, advantages and returns; old logprobs and values near those of the models."""
    torch.manual_seed(seed)
    prompts = [torch.randint(VOCABULARY, (length,)).tolist() for length in PROMPT_LENGTHS]
    responses = [torch.randint(VOCABULARY, (length,)).tolist() for length in RESPONSE_LENGTHS]
    masks = [[True] * length for length in RESPONSE_LENGTHS]
    if case.turns:
        for response, mask, observed in zip(responses, masks, OBSERVED, strict=True):
            for at, count in reversed(observed):
                response[at:at] = torch.randint(VOCABULARY, (count,)).tolist()
                mask[at:at] = [False] * count
    policy, value = open_models(case, torch.float32)
    own, _ = policy.logprobs(prompts, responses, masks)
    with policy.model.disable_adapter():
        ref, _ = policy.logprobs(prompts, responses, masks)
    advantages, returns = torch.randn(len(own)), torch.randn(len(own))
    by_token = case.token_noise * torch.randn(len(own)) * (torch.rand(len(own)) < 2 / 3)
    by_sequence = case.sequence_noise * torch.randn(len(responses))
    lengths = torch.tensor(RESPONSE_LENGTHS)
    old = own - by_token - by_sequence.repeat_interleave(lengths)
    far = (advantages < 0).nonzero()[: case.far_tokens, 0]
    old[far] = own[far] - torch.tensor(4.0).log()
    old_values = value.values(prompts, responses, masks) + 0.3 * torch.randn(len(own))
    return Batch(prompts, responses, masks, old, ref, advantages, returns, old_values)


def run(case: Case, batch: Batch, dtype: torch.dtype) -> tuple[list[Step], Choices]:
    policy, value = open_models(case, dtype)
    options, choices = case.hyperparameters, Choices()
    trainers = (
        Trainer(policy, options, options["learningRate"]),
        Trainer(value, options, options["valueLearningRate"]),
    )
    columns = {key: c.to(dtype) for key, c in vars(batch).items() if isinstance(c, Tensor)}
    exact = Batch(batch.prompts, batch.responses, batch.masks, **columns)
    steps = [train(*trainers, exact, choices) for _ in range(options["ppoEpochs"])]
    return steps, choices


def is_telling(choices: Choices) -> bool:
    """Whether every bound clips something, but never most terms, and nothing is close to a bound."""
    clear = choices.margin >= SMALLEST_MARGIN and choices.free >= SMALLEST_FREE
    return clear and all(choices.counts.values())


def to_json(value: Any) -> Any:
    """Floats with the nine digits that float32 needs."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, list):
        return [to_json(element) for element in value]
    if isinstance(value, dict):
        return {key: to_json(element) for key, element in value.items()}
    return float(f"{value:.9g}") if isinstance(value, float) else value


def write_case(name: str, seed: int, batch: Batch, steps: list[Step]) -> None:
    case, folder = CASES[name], FIXTURES / name
    folder.mkdir()
    golden = {
        "script": SCRIPT,
        "versions": VERSIONS,
        "seed": seed,
        "model": case.model,
        "hyperparameters": case.hyperparameters,
        "prompts": batch.prompts,
        "responses": batch.responses,
        **({"masks": batch.masks} if case.turns else {}),
        "oldLogprobs": batch.old_logprobs,
        "refLogprobs": batch.ref_logprobs,
        "kl": kl(batch.old_logprobs, batch.ref_logprobs, case.hyperparameters["klEstimator"]),
        "advantages": batch.advantages,
        "returns": batch.returns,
        "oldValues": batch.old_values,
        "steps": [step.numbers for step in steps],
    }
    (folder / "golden.json").write_text(json.dumps(to_json(golden)) + "\n")
    for kept in KEPT_STEPS:
        save(steps[kept - 1].weights, folder / f"after-{kept}.safetensors")


def differences(case: Case, single: list[Step], double: list[Step]) -> str:
    """Largest ‖a − b‖ / ‖b‖ of a tensor, of weights and of their changes by the update."""
    policy, value = open_models(case, torch.float64)
    start = {**policy.weights(), **value.weights()}
    lines = []
    for kept in KEPT_STEPS:
        ours, exact = single[kept - 1].weights, double[kept - 1].weights
        of_weights, of_changes = [], []
        for name, weight in exact.items():
            error = (ours[name].double() - weight).norm()
            of_weights.append((error / weight.norm()).item())
            of_changes.append((error / (weight - start[name]).norm()).item())
        largest = f"weights {max(of_weights):.1e}, changes {max(of_changes):.1e}"
        lines.append(f"after {kept}: {largest}")
    return "; ".join(lines)


def make_case(name: str, first_seed: int) -> None:
    case = CASES[name]
    for seed in range(first_seed, first_seed + 1000):
        batch = draw_batch(case, seed)
        steps, choices = run(case, batch, torch.float32)
        if is_telling(choices):
            break
    else:
        raise RuntimeError(f"{name}: no seed stays away from all bounds")
    write_case(name, seed, batch, steps)
    exact, _ = run(case, batch, torch.float64)
    norms = [[s.numbers["policyGradNorm"], s.numbers["valueGradNorm"]] for s in steps]
    print(f"{name}: seed {seed}, gradient norms {to_json(norms)}")
    print(f"  held {choices.counts}, margin {choices.margin:.4f}, free {choices.free:.2f}")
    print(f"  float32 to float64 {differences(case, steps, exact)}")


def main() -> None:
    torch.set_num_threads(1)
    transformers.logging.disable_progress_bar()
    shutil.rmtree(FIXTURES, ignore_errors=True)
    for seed, name in enumerate(MODELS):
        make_model(name, seed)
    for i, name in enumerate(CASES):
        make_case(name, first_seed=1000 * i)
    for file in FIXTURES.rglob("*.*"):
        file.chmod(0o644)


if __name__ == "__main__":
    main()
