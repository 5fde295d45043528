"""The cases of ppo_update.py: hyper-parameters by the names of src/config/ppo-config.ts."""

from dataclasses import dataclass
from typing import Any

from transformers import LlamaConfig, PreTrainedConfig, Qwen3Config

VOCABULARY, HIDDEN = 48, 32
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "bos_token_id": None,
    "eos_token_id": None,
}
MODELS: dict[str, PreTrainedConfig] = {
    "qwen3": Qwen3Config(**SIZES, tie_word_embeddings=True),
    "llama": LlamaConfig(**SIZES, tie_word_embeddings=False),
}
PROMPT_LENGTHS = [5, 9, 3, 6, 4]
RESPONSE_LENGTHS = [4, 1, 10, 7, 7]
"""Sampled tokens."""
OBSERVED = [[(2, 3)], [], [(3, 2), (7, 4)], [(1, 5)], [(2, 1), (5, 2)]]
"""Of the episodes of several turns: after how many sampled tokens the environment adds how many."""
SHARED: dict[str, Any] = {
    "batchSize": len(PROMPT_LENGTHS),
    "ppoEpochs": 3,
    "temperature": 0.7,
    "learningRate": 1e-3,
    "valueLearningRate": 2e-3,
    "adamEps": 1e-5,
    "weightDecay": 0,
    "maxGradNorm": 1,
    "clipEpsilon": 0.2,
    "ratioLevel": "token",
    "entropyCoef": 0,
    "klCoef": 0,
    "klEstimator": "k1",
    "klPlacement": "reward",
    "valueLoss": "mse",
    "valueLossCoef": 0.5,
    "loraR": 4,
    "loraAlpha": 8,
    "loraDropout": 0,
    "loraTargets": ["q_proj", "k_proj", "v_proj", "o_proj"],
}


@dataclass(frozen=True)
class Case:
    model: str
    options: dict[str, Any]
    """What differs from SHARED."""
    token_noise: float = 0
    """Standard deviation of the difference between old and current logprobs, at two of three tokens."""
    sequence_noise: float = 0
    """The same for all tokens of a sequence together."""
    turns: bool = False
    """Whether the environment adds the tokens of OBSERVED, which are masked."""
    far_tokens: int = 0
    """Tokens of negative advantage whose ratio starts at 4, beyond the dual clip."""

    @property
    def hyperparameters(self) -> dict[str, Any]:
        return {**SHARED, **self.options}


CASES: dict[str, Case] = {
    "token-clip": Case("qwen3", {}, token_noise=0.3),
    "every-term": Case(
        "qwen3",
        {
            "clipEpsilonHigh": 0.28,
            "dualClip": 3,
            "entropyCoef": 0.01,
            "klCoef": 0.05,
            "klEstimator": "k3",
            "klPlacement": "loss",
            "valueLoss": "clipped",
            "valueClip": 0.2,
        },
        token_noise=0.3,
        far_tokens=2,
    ),
    "sequence-ratio": Case(
        "llama", {"ratioLevel": "sequence"}, token_noise=0.1, sequence_noise=0.3
    ),
    "turns": Case(
        "qwen3",
        {"entropyCoef": 0.01, "klCoef": 0.05, "klEstimator": "k3", "klPlacement": "loss"},
        token_noise=0.3,
        turns=True,
    ),
}
