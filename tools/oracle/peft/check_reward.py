"""Opens what `proximal reward` writes as a sequence classifier of transformers and PEFT, and
compares the scores before normalisation.

Run with a Python that has torch, transformers and peft:

    python tools/oracle/peft/check_reward.py

It first trains a tiny reward model in a temporary folder. No tensor may be missing or left over.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import peft
import torch
import transformers

ROOT = Path(__file__).parents[3]


def train(folder: str) -> dict:
    script = "tools/oracle/peft/write-reward.ts"
    command = ["node", "--import", "tsx", script, folder]
    result = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(result.stdout)


def main() -> None:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        about = train(folder)
        base = transformers.AutoModelForSequenceClassification.from_pretrained(
            about["base"], num_labels=1, dtype=torch.float32
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = peft.PeftModel.from_pretrained(base, about["model"]).eval()
        with torch.no_grad():
            scores = [model(torch.tensor([ids])).logits.item() for ids in about["sequences"]]
    ours = torch.tensor(about["scores"])
    difference = (torch.tensor(scores) - ours).abs().max().item()
    print(f"{len(scores)} scores, standard deviation {ours.std():.3f}, largest difference {difference:.1e}")
    sys.exit(0 if difference <= 1e-4 else 1)


if __name__ == "__main__":
    main()
