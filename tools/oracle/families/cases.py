"""The tiny models of make_goldens.py: every family, several configs each."""

from dataclasses import dataclass

import torch
from transformers import GPT2Config, LlamaConfig, PreTrainedConfig, Qwen2Config, Qwen3Config

VOCABULARY = 96


@dataclass(frozen=True)
class Case:
    config: PreTrainedConfig
    dtype: torch.dtype = torch.float32
    """How the weights are stored; logits are computed in float32 from what was stored."""
    max_shard_size: str = "1MB"
    older: bool = False
    """Rewritten as older versions of transformers left models on the hub."""


def gated(kind: type[PreTrainedConfig], **options: object) -> PreTrainedConfig:
    """A config of the Llama and Qwen kind: hidden 32, 4 query and 2 key heads by default."""
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 40,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": None,
    }
    return kind(**{**sizes, **options})


def gpt2(**options: object) -> PreTrainedConfig:
    sizes = {
        "vocab_size": VOCABULARY,
        "n_positions": 80,
        "n_embd": 32,
        "n_layer": 2,
        "n_head": 4,
        "bos_token_id": None,
        "eos_token_id": None,
    }
    return GPT2Config(**{**sizes, **options})


def rope(theta: float, kind: str = "default", **options: object) -> dict[str, object]:
    return {"rope_type": kind, "rope_theta": theta, **options}


CASES: dict[str, Case] = {
    "qwen3-tied": Case(gated(Qwen3Config, head_dim=8, rope_parameters=rope(1e6))),
    # Heads of 16 make 64 query channels of 32 hidden ones.
    "qwen3-untied": Case(
        gated(Qwen3Config, head_dim=16, tie_word_embeddings=False), torch.bfloat16
    ),
    "qwen3-bias": Case(
        gated(
            Qwen3Config,
            head_dim=4,
            intermediate_size=32,
            num_hidden_layers=3,
            attention_bias=True,
            rms_norm_eps=0.02,
        )
    ),
    "qwen2-tied": Case(gated(Qwen2Config)),
    "qwen2-untied": Case(
        gated(
            Qwen2Config,
            hidden_size=48,
            num_key_value_heads=1,
            tie_word_embeddings=False,
            rope_parameters=rope(1e6),
            rms_norm_eps=0.01,
        ),
        torch.float16,
    ),
    "llama-gqa": Case(gated(LlamaConfig, rms_norm_eps=1e-5), max_shard_size="30KB"),
    "llama-mha-untied": Case(
        gated(LlamaConfig, num_key_value_heads=4, tie_word_embeddings=False, rms_norm_eps=0.03),
        torch.bfloat16,
    ),
    "llama-linear": Case(
        gated(LlamaConfig, rope_parameters=rope(1e4, "linear", factor=4.0)), torch.bfloat16
    ),
    # With heads of 8 one frequency stays, one is blended and two are divided.
    "llama-llama3": Case(
        gated(
            LlamaConfig,
            rope_parameters=rope(
                5e5,
                "llama3",
                factor=8.0,
                low_freq_factor=0.2,
                high_freq_factor=2.0,
                original_max_position_embeddings=64,
            ),
        ),
        torch.float16,
        older=True,
    ),
    "llama-biases": Case(
        gated(
            LlamaConfig,
            head_dim=4,
            num_hidden_layers=3,
            intermediate_size=32,
            attention_bias=True,
            mlp_bias=True,
            rope_parameters=rope(5e5),
        )
    ),
    "gpt2-default": Case(gpt2(), torch.float16),
    "gpt2-inner": Case(gpt2(n_inner=40, layer_norm_epsilon=0.02), torch.bfloat16, older=True),
    "gpt2-untied": Case(gpt2(n_head=2, n_inner=64, tie_word_embeddings=False), torch.bfloat16),
}
