"""A golden case of the engine: a function, its inputs, and what torch computes from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

Outputs = Tensor | Mapping[str, Tensor]


@dataclass(frozen=True)
class Case:
    """`compute` gets the inputs in their order; those in `fixed` have no gradient."""

    function: str
    name: str
    compute: Callable[..., Outputs]
    inputs: Mapping[str, Tensor]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()


def draw(*shape: int, low: float = -2, high: float = 2) -> Tensor:
    """Random multiples of 1/64: exact in float32, short in JSON."""
    return (low + (high - low) * torch.rand(shape, dtype=torch.float64)).mul(64).round() / 64


def floats(*values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def ints(*values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.int32)


def bools(*values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.bool)


def to_json(tensor: Tensor) -> dict[str, Any]:
    """float64 is rounded to float32, written with as many digits as float32 needs."""
    flat = tensor.detach().flatten()
    if tensor.dtype == torch.float64:
        values = [float(str(value)) for value in flat.float().numpy()]
        return {"dtype": "float32", "shape": list(tensor.shape), "data": values}
    dtype = "bool" if tensor.dtype == torch.bool else "int32"
    return {"dtype": dtype, "shape": list(tensor.shape), "data": [int(value) for value in flat]}


def solve(case: Case) -> dict[str, Any]:
    """Runs the case in float64: outputs, a random cotangent for each, gradients by autograd.

    An output of one element has the cotangent 1, as in the engine.
    """
    leaves = {
        name: value.clone().requires_grad_(value.is_floating_point() and name not in case.fixed)
        for name, value in case.inputs.items()
    }
    result = case.compute(*leaves.values())
    outputs = {"y": result} if isinstance(result, Tensor) else dict(result)
    solved = {
        "function": case.function,
        "name": case.name,
        "attributes": dict(case.attributes),
        "inputs": {name: to_json(value) for name, value in case.inputs.items()},
        "outputs": {name: to_json(value) for name, value in outputs.items()},
        "cotangents": {},
        "gradients": {},
    }
    if any(value.requires_grad for value in outputs.values()):
        cotangents = {
            name: torch.ones_like(value) if value.numel() == 1 else draw(*value.shape)
            for name, value in outputs.items()
        }
        torch.autograd.backward(list(outputs.values()), list(cotangents.values()))
        solved["cotangents"] = {name: to_json(value) for name, value in cotangents.items()}
        solved["gradients"] = {
            name: to_json(leaf.grad) for name, leaf in leaves.items() if leaf.requires_grad
        }
    return solved
