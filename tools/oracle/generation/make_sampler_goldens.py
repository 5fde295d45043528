"""Writes the goldens of src/generation/sampler to test/fixtures/generation/sampler.json.

For rows of logits and sampling options: the tokens that transformers keeps, their logprobs under
the kept distribution and under softmax(logits / temperature). transformers itself picks the
processors and their order. Run with a Python that has torch and transformers, then let Biome format
the file:

    python tools/oracle/generation/make_sampler_goldens.py
    npx biome check --write test/fixtures/generation/sampler.json
"""

import json
import math
from pathlib import Path
from typing import Any

import torch
import transformers

FIXTURE = Path(__file__).parents[3] / "test" / "fixtures" / "generation" / "sampler.json"

Options = dict[str, Any]

HUGGING_FACE_NAMES = {
    "temperature": "temperature",
    "topK": "top_k",
    "topP": "top_p",
    "minP": "min_p",
    "repetitionPenalty": "repetition_penalty",
}

FILTERS: list[Options] = [
    {},
    {"temperature": 0.7},
    {"temperature": 1.5},
    {"topK": 1},
    {"topK": 5},
    {"topK": 40, "temperature": 0.7},
    {"topP": 0.3},
    {"topP": 0.6},
    {"topP": 0.9, "temperature": 0.7},
    {"topP": 0.999, "temperature": 2.0},
    {"minP": 0.05},
    {"minP": 0.4, "temperature": 1.5},
    {"topK": 12, "topP": 0.8},
    {"topP": 0.9, "minP": 0.1},
    {"topK": 20, "topP": 0.95, "minP": 0.02, "temperature": 0.7},
    {"repetitionPenalty": 1.3},
    {"repetitionPenalty": 0.7, "temperature": 0.7},
    {"repetitionPenalty": 1.3, "topK": 8, "topP": 0.85, "minP": 0.1, "temperature": 1.5},
]


def make_rows() -> dict[str, torch.Tensor]:
    """Few enough equal logits that transformers' sort is stable (up to 16 tokens it is)."""
    torch.manual_seed(0)
    masked = 2 * torch.randn(24)
    masked[[0, 3, 4, 11, 23]] = -math.inf
    return {
        "spread": 3 * torch.randn(48),
        "flat": 0.3 * torch.randn(48),
        "masked": masked,
        "equals": torch.tensor([2.0, 1, 1, 1, 0, 1, 2, 0, -1, -1, 1, 0, -2, -2, 0.5, 2]),
        "long": 2.5 * torch.randn(600),
    }


def make_model() -> transformers.PreTrainedModel:
    """Only its list of processors is used."""
    config = transformers.LlamaConfig(
        vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1
    )
    return transformers.LlamaForCausalLM(config)


def process(
    model: transformers.PreTrainedModel, logits: torch.Tensor, options: Options, seen: list[int]
) -> torch.Tensor:
    is_greedy = options.get("temperature") == 0
    names = {HUGGING_FACE_NAMES[name]: value for name, value in options.items()}
    if is_greedy:
        del names["temperature"]
    config = transformers.GenerationConfig(do_sample=not is_greedy, **{"top_k": 0, **names})
    processors = model._get_logits_processor(generation_config=config, input_ids_seq_length=1)
    return processors(torch.tensor([seen]), logits[None].clone())[0]


def check_margins(scores: torch.Tensor, options: Options) -> None:
    """Rejects thresholds so close that float32 rounding could change the result."""
    if "topK" in options:
        scores = scores[scores >= scores.topk(min(options["topK"], len(scores))).values[-1]]
    probabilities = scores.double().softmax(-1).sort().values
    if "topP" in options:
        gaps = (probabilities.cumsum(-1) - (1 - options["topP"])).abs()
        assert gaps.min() > 1e-5, (options, gaps.min())
    if "minP" in options:
        gaps = (probabilities / probabilities.max() - options["minP"]).abs()
        assert gaps.min() > 1e-5, (options, gaps.min())


def make_case(
    model: transformers.PreTrainedModel, row: tuple[str, torch.Tensor], options: Options
) -> dict[str, Any]:
    name, logits = row
    some = [int(logits.argmax()), 1, 2, 1, len(logits) - 2, len(logits) + 5]
    seen = some if "repetitionPenalty" in options else []
    case: dict[str, Any] = {"row": name, "options": options, "seen": seen}
    temperature = options.get("temperature", 1.0)
    scores = process(model, logits, options, seen)
    policy = (logits.double() / (temperature or 1.0)).log_softmax(-1)
    if temperature == 0:
        token = int(scores.argmax())
        return {**case, "kept": [token], "samplingLogprobs": [0], "logprobs": [float(policy[token])]}
    unfiltered = {name: options[name] for name in options if name not in ("topK", "topP", "minP")}
    check_margins(process(model, logits, unfiltered, seen), options)
    kept = scores.isfinite().nonzero().flatten()
    sampling = scores.double().log_softmax(-1)
    return {
        **case,
        "kept": kept.tolist(),
        "samplingLogprobs": [round(value, 7) for value in sampling[kept].tolist()],
        "logprobs": [round(value, 7) for value in policy[kept].tolist()],
    }


def to_floats(tensor: torch.Tensor) -> list[float | None]:
    """The shortest decimals that read back as the same float32 values; null for −infinity."""
    return [float(str(value)) if value > -math.inf else None for value in tensor.numpy()]


def main() -> None:
    model = make_model()
    rows = make_rows()
    greedy: list[Options] = [{"temperature": 0}, {"temperature": 0, "repetitionPenalty": 2.0}]
    golden = {
        "transformers": transformers.__version__,
        "torch": torch.__version__,
        "rows": {name: to_floats(logits) for name, logits in rows.items()},
        "cases": [
            make_case(model, row, options)
            for row in rows.items()
            for options in FILTERS + greedy
            # The long row only tests the selection: its unfiltered cases would fill the file.
            if row[0] != "long" or any(name in options for name in ("topK", "topP"))
        ],
    }
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
