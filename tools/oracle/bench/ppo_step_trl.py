"""Whole PPO updates in TRL: a peer of `npm run bench -- ppo-step`.

Run by the benchmark itself (`npm run bench -- ppo-step --peer PYTHON`), with a Python that has a
TRL with `trl.experimental.ppo` (1.12 has it, 1.13 does not); its argument is a JSON file
with the lengths of the case. All work is TRL's: LoRA for the policy through `peft_config`, the
reference with the adapter disabled, a separate reward model, and a value model whose weights TRL
trains completely. Its functions are wrapped only to time them and to end each response at its
length. Prints one JSON line.
"""

import sys
import tempfile

import torch
from datasets import Dataset
from ppo_shapes import (
    EOS,
    LORA,
    MODEL_MB,
    PAD,
    Case,
    Clock,
    ForcedLengths,
    build_model,
    read_case,
    report,
)
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import (
    PreTrainedTokenizerFast,
    Qwen3ForCausalLM,
    Qwen3ForSequenceClassification,
    TrainerCallback,
)
from trl.experimental.ppo import PPOConfig, PPOTrainer, ppo_trainer

# Activations of policy and value model for one padded token, with its logits.
TOKEN_MB = 11


class EndUpdate(TrainerCallback):
    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_step_end(self, args, state, control, **_) -> None:
        self.clock.end_update()


def build_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer that can only pad; the prompts are already ids."""
    words = WordLevel({"<pad>": PAD, "<eos>": EOS, "<unk>": 2}, unk_token="<unk>")
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(words), padding_side="left", **special
    )


def build_trainer(case: Case, clock: Clock, *, micro_batch: int, folder: str) -> PPOTrainer:
    rows = len(case.responses)
    config = PPOConfig(
        output_dir=folder,
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        num_sample_generations=0,
        stop_token="eos",
        temperature=1.0,
        response_length=max(case.responses),
        num_ppo_epochs=case.epochs,
        num_mini_batches=1,
        per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=rows // micro_batch,
        total_episodes=rows * (1 + case.repeats),
    )
    return PPOTrainer(
        args=config,
        processing_class=build_tokenizer(),
        model=build_model(Qwen3ForCausalLM),
        ref_model=None,
        reward_model=build_model(Qwen3ForSequenceClassification).eval(),
        value_model=build_model(Qwen3ForSequenceClassification),
        train_dataset=Dataset.from_dict({"input_ids": case.prompt_rows()}),
        callbacks=[EndUpdate(clock)],
        peft_config=LORA,
    )


def force_lengths(trainer: PPOTrainer, case: Case) -> None:
    policy = trainer.policy_model
    generate = policy.generate

    def generate_forced(**options):
        return generate(logits_processor=[ForcedLengths(case, options["input_ids"])], **options)

    policy.generate = generate_forced


def time_phases(trainer: PPOTrainer, clock: Clock) -> None:
    """Times each pass separately; a log-softmax belongs to the pass whose logits it reads."""

    def pass_name(*_) -> str:
        return "update_forward" if torch.is_grad_enabled() else "reference"

    def head_name(model, *_) -> str:
        return "value" if model is trainer.value_model else "reward"

    names = {
        "batch_generation": lambda *_: "generate",
        "forward": pass_name,
        "get_reward": head_name,
        "selective_log_softmax": lambda *_: clock.last,
    }
    for function, name_of in names.items():
        setattr(ppo_trainer, function, clock.wrap(getattr(ppo_trainer, function), name_of))
    accelerator = trainer.accelerator
    accelerator.backward = clock.wrap(accelerator.backward, lambda *_: "update_backward")


def main() -> None:
    case = read_case(sys.argv[1])
    # The value model has gradients and two moments of AdamW too.
    micro_batch = case.micro_batch(fixed_mb=6 * MODEL_MB, token_mb=TOKEN_MB)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        trainer = build_trainer(case, clock, micro_batch=micro_batch, folder=folder)
        force_lengths(trainer, case)
        time_phases(trainer, clock)
        clock.start()
        trainer.train()
    packages = ("torch", "transformers", "peft", "accelerate", "trl")
    print(report(clock, micro_batch=micro_batch, packages=packages))


if __name__ == "__main__":
    main()
