"""Writes the loss of supervised fine-tuning, and its gradient with respect to every weight, as transformers computes them.

Each case is a tiny model of test/fixtures/families. A batch of texts padded on the right, with
labels on completions only, determines loss and gradients in float32; sequences of different lengths
show that padding is ignored. test/fixtures/sft/<name>.json holds texts and loss, <name>.safetensors
the gradients under the names of the weights. Run with a Python that has torch, transformers and
safetensors:

    python tools/oracle/sft/make_goldens.py
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures"
CASES = ["qwen3-tied", "llama-mha-untied", "gpt2-default"]
# Tokens of each text, and the length of its prompt.
TEXTS = [(9, 4), (5, 1), (12, 11), (7, 3)]


def make_batch(vocabulary: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    longest = max(length for length, _ in TEXTS)
    ids = torch.zeros(len(TEXTS), longest, dtype=torch.long)
    mask, labels = torch.zeros_like(ids), torch.full_like(ids, -100)
    for row, (length, prompt) in enumerate(TEXTS):
        ids[row, :length] = torch.randint(0, vocabulary, (length,))
        mask[row, :length] = 1
        labels[row, prompt:length] = ids[row, prompt:length]
    return ids, mask, labels


def main() -> None:
    folder = FIXTURES / "sft"
    folder.mkdir(exist_ok=True)
    for name in CASES:
        torch.manual_seed(7)
        model = AutoModelForCausalLM.from_pretrained(
            FIXTURES / "families" / name, dtype=torch.float32
        ).eval()
        ids, mask, labels = make_batch(model.config.vocab_size)
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        loss.backward()
        gradients = {key: p.grad.contiguous() for key, p in model.named_parameters()}
        made_by = {"made_by": "tools/oracle/sft/make_goldens.py"}
        save_file(gradients, folder / f"{name}.safetensors", metadata=made_by)
        texts = [
            {"tokens": ids[row, :length].tolist(), "prompt": prompt}
            for row, (length, prompt) in enumerate(TEXTS)
        ]
        golden = {**made_by, "loss": float(f"{loss.item():.9g}"), "texts": texts}
        (folder / f"{name}.json").write_text(json.dumps(golden) + "\n")
        print(name, loss.item(), len(gradients))


main()
