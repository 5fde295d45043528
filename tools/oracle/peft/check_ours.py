"""Opens the folders that our tests write with transformers and PEFT, and compares the logits.

Run with a Python that has torch, transformers, peft and safetensors:

    python tools/oracle/peft/check_ours.py

It first runs the tests that write the folders, with PROXIMAL_CASES naming a temporary folder.
Each case there is a folder, of a model or an adapter, and next to it `<folder>.safetensors` with what
we compute. No tensor may be missing, left over or of another shape, and a folder that makes
transformers or PEFT warn fails.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import peft
import torch
import transformers
from safetensors import safe_open

ROOT = Path(__file__).parents[3]
TESTS = [
    "src/base-setup/lora/peft-writer.oracle",
    "src/models/decoder/save-model",
    "src/ppo-trainer/roles.oracle",
]
TASKS = {
    "CAUSAL_LM": transformers.AutoModelForCausalLM,
    "SEQ_CLS": transformers.AutoModelForSequenceClassification,
    "TOKEN_CLS": transformers.AutoModelForTokenClassification,
}


def write_cases(folder: str) -> None:
    subprocess.run(
        ["npx", "vitest", "run", *TESTS],
        cwd=ROOT,
        env={**os.environ, "PROXIMAL_CASES": folder},
        check=True,
        capture_output=True,
    )


class Refuse(logging.Handler):
    """Turns warnings of transformers into errors."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError(record.getMessage())


def open_model(folder: Path) -> torch.nn.Module:
    """A model, every tensor of which must be in the folder, in the dtype that its config names."""
    refuse = Refuse(logging.WARNING)
    transformers.logging.set_verbosity_warning()
    transformers.logging.add_handler(refuse)
    model, info = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    transformers.logging.remove_handler(refuse)
    transformers.logging.set_verbosity_error()
    if any(info.values()):
        raise ValueError(f"transformers says of {folder}: {info}")
    config = json.loads((folder / "config.json").read_text())
    assert str(model.dtype) == f"torch.{config.get('dtype') or config['torch_dtype']}"
    assert [type(model).__name__] == config["architectures"]
    assert model.generation_config.eos_token_id == config.get("eos_token_id")
    return model.float()


def open_adapter(folder: Path, base: str) -> torch.nn.Module:
    """A base of transformers with the adapter; PEFT itself warns of missing keys."""
    task = json.loads((folder / "adapter_config.json").read_text())["task_type"]
    options = {} if task == "CAUSAL_LM" else {"num_labels": 1}
    model = TASKS[task].from_pretrained(base, dtype=torch.float32, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PEFT itself uses deprecated names of newer versions of transformers.
        warnings.simplefilter("ignore", FutureWarning)
        return peft.PeftModel.from_pretrained(model, folder)


def compute(model: torch.nn.Module, sequences: list[list[int]]) -> torch.Tensor:
    """Logits of all tokens; a sequence classifier has one for each sequence, so it gets each prefix."""
    model.eval()
    rows = []
    with torch.no_grad():
        for sequence in sequences:
            logits = model(torch.tensor([sequence])).logits[0]
            if logits.dim() == 2:
                rows.append(logits)
                continue
            for end in range(1, len(sequence) + 1):
                rows.append(model(torch.tensor([sequence[:end]])).logits)
    return torch.cat(rows)


def check(file: Path) -> float:
    """The largest difference to what we computed."""
    with safe_open(file, "pt") as stored:
        about = json.loads(stored.metadata()["about"])
        ours = stored.get_tensor("logits")
    folder = file.with_suffix("")
    model = open_adapter(folder, about["base"]) if "base" in about else open_model(folder)
    theirs = compute(model, about["sequences"])
    assert theirs.shape == ours.shape, (theirs.shape, ours.shape)
    return (theirs - ours).abs().max().item()


def main() -> None:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        write_cases(folder)
        files = sorted(Path(folder).glob("*.safetensors"))
        assert len(files) > 0, "the tests wrote no folders"
        for file in files:
            difference = check(file)
            failed |= not difference <= 1e-4
            print(f"{'ok ' if difference <= 1e-4 else 'BAD'} {difference:.1e}  {file.stem}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
