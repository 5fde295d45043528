"""Writes the golden of src/models/decoder-block.ts to test/fixtures/models/qwen3-block.safetensors.

The decoder layer is transformers' own, its adapters are PEFT's. Sequences go through it one by
one, unpadded, and are then packed. Numbers are sampled as float32, computed in float64 (except
for the norms, which transformers computes in float32) and stored as float32. Run with a
Python that has torch, transformers, peft and safetensors:

    python tools/oracle/models/make_block_golden.py
"""

import json
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import save_file
from transformers.models.qwen3.modeling_qwen3 import (
    Qwen3Config,
    Qwen3DecoderLayer,
    Qwen3RotaryEmbedding,
)

FIXTURE = Path(__file__).parents[3] / "test" / "fixtures" / "models" / "qwen3-block.safetensors"
LENGTHS = [5, 3, 1, 7]
LORA = {"r": 4, "lora_alpha": 8}
BLOCK = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rms_norm_eps": 1e-6,
}
ROPE_THETA = 1e6
LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

Named = dict[str, torch.Tensor]


def make_layer(config: Qwen3Config) -> torch.nn.Module:
    """The layer in float64, with adapters whose two matrices are both far from zero."""
    layer = Qwen3DecoderLayer(config, layer_idx=0)
    lora = peft.LoraConfig(**LORA, target_modules=LINEARS, lora_dropout=0.0)
    layer = peft.inject_adapter_in_model(lora, layer).double()
    for name, parameter in layer.named_parameters():
        drawn = torch.randn(parameter.shape, dtype=torch.float32)
        if "norm" in name:
            drawn = 1 + 0.2 * drawn
        elif "lora_B" in name:
            drawn = 0.2 * drawn
        else:
            drawn = drawn / parameter.shape[1] ** 0.5
        parameter.data = drawn.double()
        parameter.requires_grad_("lora_" in name)
    return layer


def plain_name(name: str) -> str:
    """PEFT's name for a parameter in a checkpoint."""
    return name.replace(".base_layer", "").replace(".default", "")


def run(layer: torch.nn.Module, config: Qwen3Config) -> Named:
    """Inputs, output, cotangent and gradients over all sequences, packed."""
    rotary = Qwen3RotaryEmbedding(config)
    packed: dict[str, list[torch.Tensor]] = {}
    for length in LENGTHS:
        x = torch.randn(1, length, config.hidden_size).double().requires_grad_()
        cos, sin = rotary(x, torch.arange(length)[None])
        y = layer(x, position_embeddings=(cos, sin))
        dy = torch.randn(y.shape).double()
        y.backward(dy)
        half = config.head_dim // 2
        parts = {"x": x, "y": y, "d(x)": x.grad, "d(y)": dy}
        tables = {"cos": cos[..., :half], "sin": sin[..., :half]}
        for name, part in {**parts, **tables}.items():
            packed.setdefault(name, []).append(part[0])
    return {name: torch.cat(parts) for name, parts in packed.items()}


def main() -> None:
    torch.manual_seed(0)
    config = Qwen3Config(
        **BLOCK,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        num_hidden_layers=1,
        # Without a mask PyTorch's own attention is causal, and it stays in float64.
        attn_implementation="sdpa",
    )
    layer = make_layer(config)
    tensors = run(layer, config)
    for name, parameter in layer.named_parameters():
        tensors[plain_name(name)] = parameter
        if parameter.grad is not None:
            tensors[f"d({plain_name(name)})"] = parameter.grad
    about = {
        "config": BLOCK,
        "lora": LORA,
        "lengths": LENGTHS,
        "versions": {module.__name__: module.__version__ for module in (torch, transformers, peft)},
    }
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    save_file(
        {name: tensor.detach().float().contiguous() for name, tensor in tensors.items()},
        FIXTURE,
        # One entry: safetensors writes several in no fixed order.
        metadata={"about": json.dumps(about)},
    )
    FIXTURE.chmod(0o644)


if __name__ == "__main__":
    main()
