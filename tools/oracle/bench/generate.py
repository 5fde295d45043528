"""Speed of transformers' generate at Qwen3-0.6B's shape with LoRA: the peer of `npm run bench -- decode`.

Run by the benchmark itself (`npm run bench -- decode --peer PYTHON`), with a Python that has torch,
transformers and peft. Prints one JSON line.
"""

import json
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import Qwen3Config, Qwen3ForCausalLM


def build_model() -> torch.nn.Module:
    """Random weights of the real shape, LoRA on the four projections of attention."""
    config = Qwen3Config(
        vocab_size=151_936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        tie_word_embeddings=True,
        max_position_embeddings=32_768,
    )
    model = Qwen3ForCausalLM(config).eval()
    targets = ["q_proj", "k_proj", "v_proj", "o_proj"]
    return get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=targets)).eval()


@torch.inference_mode()
def seconds_of(model: torch.nn.Module, batch: int, tokens: int, prompt: int = 64) -> float:
    """Seconds for prompts of 64 tokens and the given number of new ones, sampled."""
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
