"""What the peers of `npm run bench -- ppo-step` share: the case, the models and the clock."""

import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from peft import LoraConfig
from torch import Tensor
from transformers import LogitsProcessor, PreTrainedModel, Qwen3Config

PAD, EOS, FIRST_PROMPT = 0, 1, 100
PHASES = ("generate", "reference", "value", "reward", "update_forward", "update_backward")
# Weights of one float32 model of this shape; scores and passes without gradients need little in
# comparison.
MODEL_MB = 2_274
# Activations of policy and value model for one padded token, with its logits; log-probabilities are
# float32 in both.
TOKEN_MB = {torch.float32: 11, torch.bfloat16: 7}
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj"]
LORA = LoraConfig(r=16, lora_alpha=32, target_modules=TARGETS)
CONFIG = Qwen3Config(
    vocab_size=151_936,
    hidden_size=1024,
    intermediate_size=3072,
    num_hidden_layers=28,
    num_attention_heads=16,
    num_key_value_heads=8,
    head_dim=128,
    tie_word_embeddings=True,
    max_position_embeddings=32_768,
    num_labels=1,
    pad_token_id=PAD,
    eos_token_id=EOS,
    bos_token_id=None,
)


@dataclass
class Case:
    """Lengths in tokens: one of each prompt, one of each response, prompt by prompt."""

    prompts: list[int]
    responses: list[int]
    samples: int
    epochs: int
    threads: int
    memory_mb: int
    dtype: str
    # The first and the last layer with adapters; all if missing.
    lora_layers: list[int] | None = None

    def __post_init__(self) -> None:
        wanted = len(self.prompts) * self.samples
        if len(self.responses) != wanted:
            raise ValueError(
                f"Cannot measure this case: {len(self.prompts)} prompts with {self.samples} "
                f'samples need {wanted} "responses", got {len(self.responses)}'
            )

    def padded_length(self) -> int:
        return max(self.prompts) + max(self.responses)

    def prompt_rows(self) -> list[list[int]]:
        """Random ids, the same for each sample of a prompt; the last id identifies the prompt."""
        rows = []
        for index, length in enumerate(self.prompts):
            body = torch.randint(10_000, CONFIG.vocab_size, (length - 1,)).tolist()
            rows += [[*body, FIRST_PROMPT + index]] * self.samples
        return rows

    def torch_dtype(self) -> torch.dtype:
        return getattr(torch, self.dtype)

    def lora(self) -> LoraConfig:
        if self.lora_layers is None:
            return LORA
        first, last = self.lora_layers
        layers = list(range(first, last + 1))
        return LoraConfig(
            r=LORA.r,
            lora_alpha=LORA.lora_alpha,
            target_modules=TARGETS,
            layers_to_transform=layers,
        )

    def micro_batch(self, model_count: float) -> int:
        """Rows of the largest micro-batch that splits the batch evenly and fits in memory.

        Memory is that of this many models, and the activations of the micro-batch.
        """
        rows, dtype = len(self.responses), self.torch_dtype()
        fixed_mb = model_count * MODEL_MB * dtype.itemsize / 4
        row_mb = TOKEN_MB[dtype] * self.padded_length()
        if fixed_mb + row_mb > self.memory_mb:
            raise MemoryError(
                f"Cannot measure this peer: it needs {fixed_mb + row_mb:.0f} MB, got "
                f"{self.memory_mb} MB; free memory or choose other --peers"
            )
        fit = (self.memory_mb - fixed_mb) / row_mb
        return max(n for n in range(1, rows + 1) if rows % n == 0 and n <= fit)


class ForcedLengths(LogitsProcessor):
    """Ends each row at its target length only; the longest rows are truncated instead."""

    def __init__(self, case: Case, prompts: Tensor) -> None:
        waiting = {
            FIRST_PROMPT + i: case.responses[i * case.samples : (i + 1) * case.samples]
            for i in range(len(case.prompts))
        }
        self.start = prompts.shape[1]
        targets = torch.tensor([waiting[last].pop(0) for last in prompts[:, -1].tolist()])
        self.targets = targets.masked_fill(targets == max(case.responses), -1)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        ends = self.targets == input_ids.shape[1] - self.start + 1
        scores[:, [PAD, EOS]] = -torch.inf
        scores[ends] = -torch.inf
        scores[ends, EOS] = 0
        return scores


class Clock:
    """Wall seconds of an update, by phase."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.began, self.last = time.perf_counter(), ""
        self.spent = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began, self.last = time.perf_counter(), name
        yield
        self.spent[name] += time.perf_counter() - began

    def wrap(self, work: Callable, name_of: Callable[..., str]) -> Callable:
        """Wraps a function so that its time counts for the phase that its arguments determine."""

        def timed(*args, **options):
            with self.phase(name_of(*args)):
                return work(*args, **options)

        return timed

    def end_update(self) -> dict:
        """Seconds of the update that ends here, in total and by phase."""
        seconds = time.perf_counter() - self.began
        rest = seconds - sum(self.spent.values())
        return {"seconds": seconds, "phases": {**self.spent, "rest": rest}}


def read_case(text: str) -> Case:
    case = Case(**json.loads(text))
    torch.set_num_threads(case.threads)
    torch.manual_seed(0)
    return case


def build_model(kind: type[PreTrainedModel], dtype: torch.dtype) -> PreTrainedModel:
    """Random weights, each written once."""
    with torch.device("meta"):
        model = kind(CONFIG).to(dtype)
    model.to_empty(device="cpu").tie_weights()
    # Its buffers are float32 in every dtype, as from_pretrained leaves them.
    model.model.rotary_emb = type(model.model.rotary_emb)(CONFIG)
    for name, weight in model.named_parameters():
        weight.data.fill_(1) if "norm" in name else weight.data.uniform_(-0.03, 0.03)
    return model


def matmul_gflops(dtype: torch.dtype, *, runs: int = 50, seconds: float = 3) -> float:
    """Speed of a raw product of [256, 1024] and [1024, 3072]; fewer runs if they take too long."""
    a, b = torch.randn(256, 1024, dtype=dtype), torch.randn(1024, 3072, dtype=dtype)
    times = []
    while len(times) < runs and sum(times) < seconds:
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return round(2 * 256 * 1024 * 3072 / statistics.median(times) / 1e9, 1)
