"""Writes the goldens of PEFT adapters to test/fixtures/peft.

Each folder there has a tiny random model of transformers (`base`, bfloat16), adapters that PEFT
saved, both matrices far from zero, and `expected.safetensors`: what transformers computes in
float32, token by token over the concatenated sequences. `base` are the logits of the model,
`adapter` with the adapter on, `merged` after merge_and_unload, `layers` with an adapter on the upper
layer only; `reward` are the scores of a
sequence classifier, at each token. Run with a Python that has torch, transformers, peft and
safetensors, then let Biome format the JSON:

    python tools/oracle/peft/make_goldens.py
    npx biome check --write test/fixtures/peft
"""

import json
import shutil
from pathlib import Path
from typing import Any

import peft
import torch
import transformers
from safetensors.torch import save_file

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "peft"
SEQUENCES = [[3, 1, 4, 1, 5, 9, 2, 6], [53], [58, 0, 63]]
GATED = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
}
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
CONFIGS = {
    "qwen3": transformers.Qwen3Config(**GATED, head_dim=16, tie_word_embeddings=True),
    "llama": transformers.LlamaConfig(**GATED, rope_parameters=LLAMA3_ROPE),
    "gpt2": transformers.GPT2Config(
        vocab_size=64,
        n_embd=32,
        n_inner=48,
        n_layer=2,
        n_head=4,
        n_positions=32,
        bos_token_id=0,
        eos_token_id=0,
    ),
}
ADAPTERS: dict[str, dict[str, Any]] = {
    "qwen3": {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]},
    # PEFT saves "all-linear" as a list of full names.
    "llama": {"r": 2, "lora_alpha": 3, "target_modules": "all-linear", "use_rslora": True},
    "gpt2": {
        "r": 3,
        "lora_alpha": 6,
        "target_modules": r".*\.(attn\.c_attn|attn\.c_proj|mlp\.c_fc)",
        "fan_in_fan_out": True,
    },
}

# Each of the forms that PEFT accepts: an index, a list, and a pattern for the name of the layers.
LAYERS: dict[str, dict[str, Any]] = {
    "qwen3": {"r": 2, "target_modules": ["q_proj", "v_proj"], "layers_to_transform": 1},
    "llama": {"r": 2, "target_modules": ["up_proj", "o_proj"], "layers_to_transform": [1]},
    "gpt2": {
        "r": 2,
        "target_modules": ["attn.c_attn"],
        "layers_to_transform": [1],
        "layers_pattern": ["h"],
        "fan_in_fan_out": True,
    },
}

Model = torch.nn.Module


def draw(model: Model) -> None:
    """Fills all parameters, so that each of them matters; a base's are exact in bfloat16."""
    for name, parameter in model.named_parameters():
        drawn = torch.randn(parameter.shape)
        if parameter.dim() == 1:
            drawn = 0.2 * drawn + ("norm" in name or "ln_" in name) * name.endswith("weight")
        elif "lora_B" in name:
            drawn = 0.3 * drawn
        else:
            drawn = drawn / parameter.shape[1] ** 0.5
        parameter.data = drawn.bfloat16().float()


def run(model: Model) -> torch.Tensor:
    """Logits of all tokens of the concatenated sequences."""
    model.eval()
    with torch.no_grad():
        rows = [model(torch.tensor([sequence])).logits[0] for sequence in SEQUENCES]
    return torch.cat(rows)


def save_adapter(model: peft.PeftModel, folder: Path) -> None:
    model.save_pretrained(folder)
    (folder / "README.md").unlink()
    # PEFT writes its sets in no fixed order.
    file = folder / "adapter_config.json"
    config = json.loads(file.read_text())
    for key in ("target_modules", "modules_to_save"):
        if isinstance(config[key], list):
            config[key].sort()
    file.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def make_language_model(family: str, folder: Path) -> dict[str, torch.Tensor]:
    """Writes `base` and `adapter`; returns their logits."""
    model = transformers.AutoModelForCausalLM.from_config(CONFIGS[family])
    draw(model)
    model.to(torch.bfloat16).save_pretrained(folder / "base")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "base", dtype=torch.float32)
    base = run(model)
    config = peft.LoraConfig(**ADAPTERS[family], lora_dropout=0.1, task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, config)
    draw_adapter(adapted)
    config.base_model_name_or_path = f"tiny-{family}"
    save_adapter(adapted, folder / "adapter")
    return {"base": base, "adapter": run(adapted), "merged": run(adapted.merge_and_unload())}


def make_upper_adapter(family: str, folder: Path) -> torch.Tensor:
    """Writes `layers`, an adapter on the upper layer only; returns its logits."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "base", dtype=torch.float32)
    adapted = peft.get_peft_model(model, peft.LoraConfig(**LAYERS[family], task_type="CAUSAL_LM"))
    draw_adapter(adapted)
    adapted.peft_config["default"].base_model_name_or_path = f"tiny-{family}"
    save_adapter(adapted, folder / "layers")
    return run(adapted)


def make_reward_model(folder: Path) -> torch.Tensor:
    """Writes `reward`, an adapter with the head of a sequence classifier; returns its scores."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder / "base", num_labels=1, dtype=torch.float32
    )
    config = peft.LoraConfig(r=2, lora_alpha=4, target_modules="all-linear", task_type="SEQ_CLS")
    adapted = peft.get_peft_model(model, config)
    draw_adapter(adapted)
    config.base_model_name_or_path = "tiny-qwen3"
    save_adapter(adapted, folder / "reward")
    with torch.no_grad():
        states = [
            model.model(torch.tensor([sequence])).last_hidden_state[0] for sequence in SEQUENCES
        ]
        return model.score(torch.cat(states))[:, 0]


def draw_adapter(adapted: peft.PeftModel) -> None:
    """Fills the trained weights and leaves the base unchanged."""
    frozen = {name: p.data for name, p in adapted.named_parameters() if not p.requires_grad}
    draw(adapted)
    for name, parameter in adapted.named_parameters():
        if name in frozen:
            parameter.data = frozen[name]
    adapted.eval()


def main() -> None:
    versions = {module.__name__: module.__version__ for module in (torch, transformers, peft)}
    shutil.rmtree(FIXTURES, ignore_errors=True)
    for seed, family in enumerate(CONFIGS):
        torch.manual_seed(seed)
        folder = FIXTURES / family
        expected = make_language_model(family, folder)
        if family == "qwen3":
            expected["reward"] = make_reward_model(folder)
        expected["layers"] = make_upper_adapter(family, folder)
        about = {"sequences": SEQUENCES, "versions": versions}
        # One entry: safetensors writes several in no fixed order.
        save_file(expected, folder / "expected.safetensors", metadata={"about": json.dumps(about)})
    for file in FIXTURES.rglob("*.*"):
        file.chmod(0o644)


if __name__ == "__main__":
    main()
