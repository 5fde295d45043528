"""Whole PPO updates in TRL: a peer of `npm run bench -- ppo-step`.

Run by the benchmark itself (`npm run bench -- ppo-step --peer PYTHON`), with a Python that has a
TRL with `trl.experimental.ppo` (1.12 has it, 1.13 does not); its argument is the case as JSON, with
lengths in tokens. All work is TRL's: LoRA for the policy through `peft_config`, the
reference with the adapter disabled, a separate reward model, and a value model whose weights TRL
trains completely. Its functions are wrapped only to time them and to end each response at its
length. Runs one update per line of stdin: its training loop waits between updates.
"""

import sys
import tempfile
from contextlib import suppress

import torch
from datasets import Dataset
from ppo_shapes import EOS, PAD, Case, Clock, ForcedLengths, build_model, matmul_gflops, read_case
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import (
    PreTrainedTokenizerFast,
    Qwen3ForCausalLM,
    Qwen3ForSequenceClassification,
    TrainerCallback,
)
from trl.experimental.ppo import PPOConfig, PPOTrainer, ppo_trainer
from update_server import UpdateServer, facts_of

# Three models; the value model has gradients and two moments of AdamW too.
MODEL_COUNT = 6
# More than any benchmark requests: the end of stdin ends the training.
MOST_UPDATES = 1_000


class EndOfRequests(Exception):
    """Raised in TRL's loop when no further update is requested."""


class Updates(TrainerCallback):
    """Reports each update at its end and waits for the next request; the first one is a warm-up."""

    def __init__(self, clock: Clock, server: UpdateServer) -> None:
        self.clock = clock
        self.server = server

    def on_step_end(self, args, state, control, **_) -> None:
        self.server.answer(self.clock.end_update())
        if not self.server.wait():
            raise EndOfRequests
        self.clock.start()


def build_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer that can only pad; the prompts are already ids."""
    words = WordLevel({"<pad>": PAD, "<eos>": EOS, "<unk>": 2}, unk_token="<unk>")
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(words), padding_side="left", **special
    )


def build_trainer(case: Case, updates: Updates, *, micro_batch: int, folder: str) -> PPOTrainer:
    rows, dtype = len(case.responses), case.torch_dtype()
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
        total_episodes=rows * MOST_UPDATES,
    )
    return PPOTrainer(
        args=config,
        processing_class=build_tokenizer(),
        model=build_model(Qwen3ForCausalLM, dtype),
        ref_model=None,
        reward_model=build_model(Qwen3ForSequenceClassification, dtype).eval(),
        value_model=build_model(Qwen3ForSequenceClassification, dtype),
        train_dataset=Dataset.from_dict({"input_ids": case.prompt_rows()}),
        callbacks=[updates],
        peft_config=case.lora(),
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
    case, server, clock = read_case(sys.argv[1]), UpdateServer(), Clock()
    micro_batch = case.micro_batch(MODEL_COUNT)
    updates = Updates(clock, server)
    with tempfile.TemporaryDirectory() as folder, suppress(EndOfRequests):
        trainer = build_trainer(case, updates, micro_batch=micro_batch, folder=folder)
        force_lengths(trainer, case)
        time_phases(trainer, clock)
        clock.start()
        trainer.train()
    speed = matmul_gflops(case.torch_dtype())
    packages = ("torch", "transformers", "peft", "accelerate", "trl")
    server.answer(facts_of(packages, micro_batch=micro_batch, matmul_gflops=speed))


if __name__ == "__main__":
    main()
