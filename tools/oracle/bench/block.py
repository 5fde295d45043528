"""Speed of the same Qwen3 block in torch: the peer of `npm run bench -- block`.

Run by the benchmark itself (`npm run bench -- block --peer PYTHON`), with a Python that has torch.
LoRA r = 16 on all seven linears as PEFT computes it, causal attention by torch's fused kernel,
sequences of equal length. Prints one JSON line of milliseconds, medians of 15 runs.
"""

import json
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F

HIDDEN, INNER, HEADS, KV_HEADS, SIZE, RANK = 1024, 3072, 16, 8, 128, 16
SHAPES = {
    "q": (HEADS * SIZE, HIDDEN),
    "k": (KV_HEADS * SIZE, HIDDEN),
    "v": (KV_HEADS * SIZE, HIDDEN),
    "o": (HIDDEN, HEADS * SIZE),
    "gate": (INNER, HIDDEN),
    "up": (INNER, HIDDEN),
    "down": (HIDDEN, INNER),
}
WEIGHT = {name: torch.randn(*shape) * 0.02 for name, shape in SHAPES.items()}
LORA_A = {n: (torch.randn(RANK, s[1]) * 0.02).requires_grad_() for n, s in SHAPES.items()}
LORA_B = {n: (torch.randn(s[0], RANK) * 0.02).requires_grad_() for n, s in SHAPES.items()}


def linear(x: torch.Tensor, name: str) -> torch.Tensor:
    """A frozen layer with its adapter."""
    return F.linear(x, WEIGHT[name]) + 2.0 * F.linear(F.linear(x, LORA_A[name]), LORA_B[name])


def norm(x: torch.Tensor) -> torch.Tensor:
    """RMSNorm over the last axis."""
    return F.rms_norm(x, (x.shape[-1],), torch.ones(x.shape[-1]), 1e-6)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding, half-split."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def block(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """One decoder layer."""
    batch, length, _ = x.shape
    n = norm(x)

    def heads(name: str, count: int) -> torch.Tensor:
        return linear(n, name).view(batch, length, count, SIZE)

    q = rotate(norm(heads("q", HEADS)).transpose(1, 2), cos, sin)
    k = rotate(norm(heads("k", KV_HEADS)).transpose(1, 2), cos, sin)
    v = heads("v", KV_HEADS).transpose(1, 2)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    h = x + linear(mixed.transpose(1, 2).reshape(batch, length, -1), "o")
    n2 = norm(h)
    return h + linear(F.silu(linear(n2, "gate")) * linear(n2, "up"), "down")


def milliseconds(work: Callable[[], object], runs: int = 15) -> float:
    """The median of several runs, after two warm-up runs."""
    times = []
    for run in range(-2, runs):
        start = time.perf_counter()
        work()
        if run >= 0:
            times.append(1000 * (time.perf_counter() - start))
    return round(statistics.median(times), 1)


def main() -> None:
    result = {}
    for length, suffix in ((256, ""), (64, "_t64")):
        x = torch.randn(4, length, HIDDEN).requires_grad_()
        dy = torch.randn(4, length, HIDDEN)
        cos, sin = torch.randn(length, SIZE // 2), torch.randn(length, SIZE // 2)
        with torch.no_grad():
            result[f"forward_ms{suffix}"] = milliseconds(lambda: block(x, cos, sin))
        result[f"backward_ms{suffix}"] = milliseconds(lambda: block(x, cos, sin).backward(dy))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
