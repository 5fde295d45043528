"""Writes tiny models of every family and what transformers computes with them.

Each case of cases.py becomes a folder test/fixtures/families/<name>: a model as
`save_pretrained` leaves it, and golden.json with logits, logprobs, entropies and greedy
continuations in float32, computed without a cache from the folder as it was read back. Weights
are large enough for logits to differ clearly, and come from the first seed whose greedy tokens all
win by a clear margin. Run with a Python that has torch, transformers and safetensors, for all
cases or for those named, then let Biome format the files:

    python tools/oracle/families/make_goldens.py [name …]
    npx biome check --write test/fixtures/families
"""

import copy
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from cases import CASES, VOCABULARY, Case
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, PreTrainedModel

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "families"
# The last one passes 64 tokens, where the key-value cache grows.
LENGTHS = [1, 3, 6, 70]
PROMPT_LENGTHS = [2, 9]
GREEDY_TOKENS = 64
TEMPERATURES = [1.0, 0.7]
SMALLEST_MARGIN = 1e-3
FEWEST_DIFFERENT = 16

Json = dict[str, Any]


def draw_model(case: Case, seed: int) -> PreTrainedModel:
    """Matrices and biases N(0, 0.25²), embeddings N(0, 0.4²), norms N(1, 0.2²)."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(copy.deepcopy(case.config))
    for name, parameter in model.named_parameters():
        drawn = torch.randn(parameter.shape)
        if ("norm" in name or ".ln_" in name) and name.endswith(".weight"):
            parameter.data = 1 + 0.2 * drawn
        else:
            outside = "embed" in name or "wte" in name or "wpe" in name or "lm_head" in name
            parameter.data = (0.4 if outside else 0.25) * drawn
    return model.to(case.dtype)


def save_model(model: PreTrainedModel, case: Case, folder: Path) -> PreTrainedModel:
    """Writes the folder; returns the model that transformers reads from it."""
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, max_shard_size=case.max_shard_size)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if case.older:
        rewrite_older(folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    read = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    for name, parameter in read.named_parameters():
        stored = dict(model.named_parameters())[name]
        assert torch.equal(parameter, stored.float()), f"{name} was not read back"
    return read.eval()


def rewrite_older(folder: Path) -> None:
    """Rope as transformers 4 wrote it; GPT-2 without `transformer.` and with its causal masks."""
    file = folder / "config.json"
    config = json.loads(file.read_text())
    config["torch_dtype"] = config.pop("dtype")
    if "rope_parameters" in config:
        scaling = config.pop("rope_parameters")
        config["rope_theta"] = scaling.pop("rope_theta")
        config["rope_scaling"] = scaling
    file.write_text(json.dumps(config, indent=2) + "\n")
    if config["model_type"] == "gpt2":
        weights = folder / "model.safetensors"
        tensors = {
            name.removeprefix("transformer."): tensor for name, tensor in load_file(weights).items()
        }
        size = config["n_positions"]
        for layer in range(config["n_layer"]):
            mask = torch.ones(size, size, dtype=torch.uint8).tril()
            tensors[f"h.{layer}.attn.bias"] = mask.view(1, 1, size, size)
        save_file(tensors, weights, metadata={"format": "pt"})


@torch.no_grad()
def continue_greedily(model: PreTrainedModel, prompt: list[int]) -> tuple[list[int], float]:
    """64 tokens, each by a whole forward pass, and the smallest lead over the second best."""
    ids, margin = list(prompt), float("inf")
    for _ in range(GREEDY_TOKENS):
        best = model(torch.tensor([ids])).logits[0, -1].topk(2)
        margin = min(margin, float(best.values[0] - best.values[1]))
        ids.append(int(best.indices[0]))
    return ids[len(prompt) :], margin


@torch.no_grad()
def describe(model: PreTrainedModel, ids: list[int]) -> Json:
    """Logits of all rows (of a few in long sequences); logprobs of tokens 1… and all entropies."""
    logits = model(torch.tensor([ids])).logits[0]
    rows = list(range(len(ids))) if len(ids) < 64 else [63, 64, len(ids) - 1]
    at_temperatures = []
    for temperature in TEMPERATURES:
        logprobs = torch.log_softmax(logits / temperature, dim=-1)
        chosen = logprobs[:-1].gather(-1, torch.tensor(ids[1:], dtype=torch.int64)[:, None])
        entropies = -(logprobs.exp() * logprobs).sum(-1)
        at_temperatures.append(
            {
                "temperature": temperature,
                "logprobs": to_floats(chosen[:, 0]),
                "entropies": to_floats(entropies),
            }
        )
    return {
        "ids": ids,
        "rows": rows,
        "logits": [to_floats(logits[row]) for row in rows],
        "at": at_temperatures,
    }


def to_floats(tensor: torch.Tensor) -> list[float]:
    return [float(f"{value:.7g}") for value in tensor.tolist()]


def draw_ids(length: int) -> list[int]:
    return torch.randint(VOCABULARY, (length,)).tolist()


def make_case(name: str, case: Case) -> None:
    for seed in range(1000):
        model = save_model(draw_model(case, seed), case, FIXTURES / name)
        prompts = [draw_ids(length) for length in PROMPT_LENGTHS]
        continued = [continue_greedily(model, prompt) for prompt in prompts]
        clear = all(
            margin >= SMALLEST_MARGIN and len(set(ids)) >= FEWEST_DIFFERENT
            for ids, margin in continued
        )
        if clear:
            break
    else:
        raise RuntimeError(f"{name}: no seed has greedy tokens with a clear margin")
    for prompt, (ids, _) in zip(prompts, continued, strict=True):
        generated = model.generate(
            torch.tensor([prompt]),
            # Else tokens of the prompt that equal the padding would be hidden.
            attention_mask=torch.ones(1, len(prompt)),
            do_sample=False,
            max_new_tokens=GREEDY_TOKENS,
            pad_token_id=0,
        )
        assert generated[0].tolist() == prompt + ids, f"{name}: generate() differs"
    golden = {
        "by": f"transformers {transformers.__version__}, torch {torch.__version__}, seed {seed}",
        "sequences": [describe(model, draw_ids(length)) for length in LENGTHS],
        "greedy": [
            {"prompt": prompt, "ids": ids, "margin": round(margin, 5)}
            for prompt, (ids, margin) in zip(prompts, continued, strict=True)
        ],
    }
    (FIXTURES / name / "golden.json").write_text(json.dumps(golden) + "\n")
    different = min(len(set(ids)) for ids, _ in continued)
    print(f"{name}: seed {seed}, at least {different} different greedy tokens")


def main() -> None:
    for name in sys.argv[1:] or CASES:
        make_case(name, CASES[name])


if __name__ == "__main__":
    main()
