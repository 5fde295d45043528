"""Writes the goldens of src/engine/optim to test/fixtures/optim.

torch.optim.AdamW and torch.nn.utils.clip_grad_norm_ create adamw.json, the schedules of
transformers create schedules.json. Run with a Python that has torch and transformers, then
let Biome format the files:

    python tools/oracle/optim/make_goldens.py
    npx biome check --write test/fixtures/optim
"""

import json
import math
from pathlib import Path
from typing import Any

import torch
import transformers

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "optim"
STEPS = 100
CHECKPOINTS = (1, 10, 100)

Named = dict[str, torch.Tensor]

ADAMW_CASES: dict[str, dict[str, Any]] = {
    "eps 1e-8, decay on one group": {
        "betas": [0.9, 0.999],
        "eps": 1e-8,
        "maxNorm": None,
        "learningRateFactors": [1.0] * STEPS,
        "groups": [
            {"names": ["q.lora_A", "q.lora_B"], "learningRate": 1e-3, "weightDecay": 0.1},
            {"names": ["norm", "head"], "learningRate": 1e-2, "weightDecay": 0.0},
        ],
    },
    "eps 1e-5, clipping, changing rate": {
        "betas": [0.9, 0.999],
        "eps": 1e-5,
        "maxNorm": 1.0,
        "learningRateFactors": [round(1 + 0.5 * math.sin(step), 4) for step in range(STEPS)],
        "groups": [
            {"names": ["q.lora_A"], "learningRate": 1e-3, "weightDecay": 0.01},
            {"names": ["q.lora_B", "norm", "head"], "learningRate": 1e-3, "weightDecay": 0.0},
        ],
    },
    "other betas, warm-up, decay on all": {
        "betas": [0.8, 0.95],
        "eps": 1e-8,
        "maxNorm": 10.0,
        "learningRateFactors": [min(1.0, step / 10) for step in range(STEPS)],
        "groups": [
            {
                "names": ["q.lora_A", "q.lora_B", "norm", "head"],
                "learningRate": 5e-3,
                "weightDecay": 0.01,
            },
        ],
    },
}


def initial_parameters() -> Named:
    """A LoRA pair (B starts at zero, as in PEFT), a norm and a head."""
    return {
        "q.lora_A": -0.3 - torch.rand(8),
        "q.lora_B": torch.zeros(5),
        "norm": torch.ones(3),
        "head": torch.tensor([2.0, 1.5, -1.5, -2.0]),
    }


def step_gradients(step: int) -> Named:
    """Gradients from 1e-8 to 1e2, with one element always zero and one parameter zero at first.

    Their mean is one standard deviation from zero: moments near zero would have no digits to
    compare.
    """

    def noisy(scale: torch.Tensor) -> torch.Tensor:
        return scale * (1 + torch.randn(scale.shape))

    head_scale = 100.0 if step % 10 == 9 else 0.1
    return {
        "q.lora_A": noisy(torch.cat([torch.zeros(1), torch.logspace(-8, 1, 7)])),
        "q.lora_B": noisy(torch.full((5,), 0.0 if step < 5 else 0.1)),
        "norm": 1e-3 * torch.randn(3) - 0.5,
        "head": noisy(torch.tensor([-head_scale, -head_scale, head_scale, head_scale])),
    }


def to_floats(tensor: torch.Tensor) -> list[float]:
    """The shortest decimals that read back as the same float32 values."""
    return [float(str(value)) for value in tensor.detach().numpy()]


def to_lists(tensors: Named) -> dict[str, list[float]]:
    return {name: to_floats(tensor) for name, tensor in tensors.items()}


def run_adamw(case: dict[str, Any], initial: Named, gradients: list[Named]) -> dict[str, Any]:
    """Norms before clipping at each step; parameters and moments at the checkpoints."""
    parameters = {name: torch.nn.Parameter(value.clone()) for name, value in initial.items()}
    groups = [
        {
            "params": [parameters[name] for name in group["names"]],
            "lr": group["learningRate"],
            "weight_decay": group["weightDecay"],
        }
        for group in case["groups"]
    ]
    optimizer = torch.optim.AdamW(groups, betas=tuple(case["betas"]), eps=case["eps"])
    norms, checkpoints = [], []
    for step, factor in enumerate(case["learningRateFactors"]):
        for group, options in zip(optimizer.param_groups, case["groups"], strict=True):
            group["lr"] = options["learningRate"] * factor
        for name, parameter in parameters.items():
            parameter.grad = gradients[step][name].clone()
        max_norm = case["maxNorm"] or math.inf
        norms.append(torch.nn.utils.clip_grad_norm_(parameters.values(), max_norm))
        optimizer.step()
        if step + 1 in CHECKPOINTS:
            moments = {
                f"{key}.{name}": optimizer.state[parameter][key]
                for key in ("exp_avg", "exp_avg_sq")
                for name, parameter in parameters.items()
            }
            checkpoints.append(
                {"step": step + 1, "parameters": to_lists(parameters), "moments": to_lists(moments)}
            )
    return {"norms": to_floats(torch.stack(norms)), "checkpoints": checkpoints}


def make_adamw() -> dict[str, Any]:
    torch.manual_seed(0)
    initial = initial_parameters()
    gradients = [step_gradients(step) for step in range(STEPS)]
    return {
        "torch": torch.__version__,
        "parameters": to_lists(initial),
        "gradients": [to_lists(of_step) for of_step in gradients],
        "cases": [
            {"name": name, **case, **run_adamw(case, initial, gradients)}
            for name, case in ADAMW_CASES.items()
        ],
    }


def schedule_factors(name: str, warmup_steps: int, total_steps: int) -> list[float]:
    """The factor before each step, to three steps past the end."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = transformers.get_scheduler(
        f"{name}_with_warmup" if name == "constant" else name,
        optimizer,
        num_warmup_steps=warmup_steps,
        num_training_steps=total_steps,
    )
    factors = []
    for _ in range(total_steps + 4):
        factors.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return factors


def make_schedules() -> dict[str, Any]:
    settings = [(0, 10), (3, 10), (10, 10), (15, 10), (0, 1), (7, 50)]
    return {
        "transformers": transformers.__version__,
        "cases": [
            {
                "name": name,
                "warmupSteps": warmup_steps,
                "totalSteps": total_steps,
                "factors": schedule_factors(name, warmup_steps, total_steps),
            }
            for name in ("constant", "linear", "cosine")
            for warmup_steps, total_steps in settings
        ],
    }


def main() -> None:
    FIXTURES.mkdir(parents=True, exist_ok=True)
    for name, golden in {"adamw": make_adamw(), "schedules": make_schedules()}.items():
        (FIXTURES / f"{name}.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
