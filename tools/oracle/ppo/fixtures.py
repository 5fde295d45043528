"""The folders of test/fixtures/ppo-update, and the tiny models in them."""

import json
from pathlib import Path

import peft
import torch
import transformers
from cases import HIDDEN, MODELS, SHARED
from safetensors.torch import save_file
from torch import Tensor

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "ppo-update"
SCRIPT = "tools/oracle/ppo/ppo_update.py"
VERSIONS = {module.__name__: module.__version__ for module in (torch, transformers, peft)}


def make_base(name: str, folder: Path) -> None:
    """Matrices N(0, 0.15²), norms N(1, 0.2²)."""
    model = transformers.AutoModelForCausalLM.from_config(MODELS[name])
    for key, parameter in model.named_parameters():
        drawn = torch.randn(parameter.shape)
        parameter.data = 1 + 0.2 * drawn if "norm" in key else 0.15 * drawn
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)


def make_adapter(name: str, base: Path, folder: Path) -> None:
    """A is N(0, 1/in), B is N(0, 0.1²)."""
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    config = peft.LoraConfig(
        r=SHARED["loraR"],
        lora_alpha=SHARED["loraAlpha"],
        lora_dropout=SHARED["loraDropout"],
        target_modules=SHARED["loraTargets"],
    )
    adapted = peft.get_peft_model(model, config)
    for key, parameter in adapted.named_parameters():
        if parameter.requires_grad:
            deviation = 0.1 if "lora_B" in key else parameter.shape[1] ** -0.5
            parameter.data = deviation * torch.randn(parameter.shape)
    adapted.save_pretrained(folder)
    (folder / "README.md").unlink()
    file = folder / "adapter_config.json"
    written = json.loads(file.read_text())
    written["base_model_name_or_path"] = f"tiny-{name}"
    # PEFT writes its sets in no fixed order.
    written["target_modules"].sort()
    file.write_text(json.dumps(written, indent=2, sort_keys=True) + "\n")


def make_model(name: str, seed: int) -> None:
    torch.manual_seed(seed)
    folder = FIXTURES / name
    make_base(name, folder / "base")
    make_adapter(name, folder / "base", folder / "policy")
    make_adapter(name, folder / "base", folder / "value")
    head = torch.randn(1, HIDDEN) / (HIDDEN + 1) ** 0.5
    save({"score.weight": head}, folder / "value" / "value_head.safetensors")


def save(tensors: dict[str, Tensor], file: Path) -> None:
    # One entry of metadata: safetensors writes several in no fixed order.
    about = json.dumps({"script": SCRIPT, "versions": VERSIONS})
    save_file(tensors, file, metadata={"about": about})
