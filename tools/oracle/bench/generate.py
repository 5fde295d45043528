"""Speed of transformers' generate at Qwen3-0.6B's shape with LoRA: the peer of `npm run bench -- decode`.

Run by the benchmark itself (`npm run bench -- decode --peer PYTHON`), with a Python that has torch,
transformers and peft. Prints one JSON line.
"""

import json
import sys
import time

import torch
from peft import get_peft_model
from ppo_shapes import CONFIG, LORA
from transformers import Qwen3ForCausalLM


def build_model() -> torch.nn.Module:
    """Random weights of the real shape, LoRA on the four projections of attention."""
    return get_peft_model(Qwen3ForCausalLM(CONFIG).eval(), LORA).eval()


@torch.inference_mode()
def seconds_of(model: torch.nn.Module, batch: int, tokens: int, prompt: int = 64) -> float:
    """Seconds for prompts of 64 tokens and this number of sampled tokens."""
    ids = torch.arange(100, 100 + prompt).repeat(batch, 1)
    options = {"do_sample": True, "min_new_tokens": tokens, "max_new_tokens": tokens}
    start = time.perf_counter()
    model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **options)
    return time.perf_counter() - start


def main() -> None:
    model = build_model()
    results = []
    for batch in (int(argument) for argument in sys.argv[1:]):
        seconds_of(model, batch, 2)
        short, long = seconds_of(model, batch, 8), seconds_of(model, batch, 40)
        ms = 1000 * (long - short) / 32
        speed = {"ms_per_step": round(ms, 1), "tokens_per_second": round(1000 * batch / ms, 1)}
        results.append({"batch": batch, **speed})
    print(json.dumps(results))


if __name__ == "__main__":
    main()
