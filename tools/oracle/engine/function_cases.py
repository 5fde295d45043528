"""Golden cases of src/engine/graph/functions.ts and of the functions among the ops."""

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Categorical

from golden_case import Case, draw, floats, ints

HIDDEN = -1e9


def attention_case(
    name: str, heads: tuple[int, int], lengths: tuple[int, int], bias: Tensor
) -> Case:
    (query_heads, kv_heads), (queries, keys) = heads, lengths
    batch = bias.shape[0] if bias.dim() == 4 else 2
    inputs = {
        "q": draw(batch, query_heads, queries, 4),
        "k": draw(batch, kv_heads, keys, 4),
        "v": draw(batch, kv_heads, keys, 4),
        "bias": bias,
    }

    def compute(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=True)

    return Case("attention", name, compute, inputs, fixed=("bias",))


def attention_cases() -> list[Case]:
    def causal(queries: int, keys: int) -> Tensor:
        hidden = torch.ones(queries, keys).triu(keys - queries + 1).double()
        return torch.where(hidden.bool(), floats(HIDDEN), floats(0))

    padding = torch.where(ints([0, 0, 0], [0, 1, 1]).bool(), floats(HIDDEN), floats(0))
    left_padding = torch.where(ints([1, 1, 0], [0, 0, 0]).bool(), floats(HIDDEN), floats(0))
    return [
        attention_case("a key head for each head", (2, 2), (3, 3), torch.zeros(3, 3).double()),
        attention_case("grouped heads, causal", (4, 2), (3, 3), causal(3, 3)),
        attention_case("one key head for all", (3, 1), (2, 2), causal(2, 2)),
        attention_case("queries after a prefix", (2, 1), (2, 4), causal(2, 4)),
        attention_case("one query", (4, 2), (1, 3), causal(1, 3)),
        attention_case(
            "causal with padding on the right",
            (4, 2),
            (3, 3),
            torch.maximum(causal(3, 3) + padding[:, None, None], floats(HIDDEN)),
        ),
        attention_case("padding on the left", (2, 1), (2, 3), left_padding[:, None, None]),
    ]


def linear_cases() -> list[Case]:
    def lora(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return 2 * F.linear(F.linear(x, a), b)

    def adapted(x: Tensor, weight: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return F.linear(x, weight) + lora(x, a, b)

    adapter = {"a": draw(2, 4), "b": draw(3, 2)}
    weight = {"weight": draw(3, 4)}
    scaling = {"scaling": 2}
    return [
        Case("linear", "rows", F.linear, {"x": draw(2, 4), **weight}),
        Case("linear", "batch of rows", F.linear, {"x": draw(2, 2, 4), **weight}),
        Case(
            "loraLinear",
            "everything trained",
            adapted,
            {"x": draw(2, 4), **weight, **adapter},
            scaling,
        ),
        Case(
            "loraLinear",
            "frozen weight",
            adapted,
            {"x": draw(2, 2, 4), **weight, **adapter},
            scaling,
            fixed=("weight",),
        ),
        Case(
            "loraLinear",
            "untrained adapter",
            adapted,
            {"x": draw(2, 4), **weight, "a": draw(2, 4), "b": torch.zeros(3, 2).double()},
            scaling,
        ),
        Case("loraDelta", "rows", lora, {"x": draw(2, 4), **adapter}, scaling),
    ]


def logprob_cases() -> list[Case]:
    def token_logprobs(logits: Tensor, tokens: Tensor) -> dict[str, Tensor]:
        policy = Categorical(logits=logits)
        return {"logprob": policy.log_prob(tokens), "entropy": policy.entropy()}

    sharp = floats([60, -40, 0], [0.5, 0.5, 0.5], [-1000, -1001, -1000])
    return [
        Case(
            "tokenLogprobs",
            "matrix",
            token_logprobs,
            {"logits": draw(3, 5), "tokens": ints(4, 0, 0)},
        ),
        Case("tokenLogprobs", "one row", token_logprobs, {"logits": draw(1, 5), "tokens": ints(2)}),
        Case(
            "tokenLogprobs",
            "one token",
            token_logprobs,
            {"logits": draw(2, 1), "tokens": ints(0, 0)},
        ),
        Case(
            "tokenLogprobs",
            "large numbers and ties",
            token_logprobs,
            {"logits": sharp, "tokens": ints(0, 1, 2)},
        ),
    ]


def other_cases() -> list[Case]:
    layer_norm = lambda x, weight, bias: F.layer_norm(x, weight.shape, weight, bias, 1e-5)
    tanh_gelu = lambda x: F.gelu(x, approximate="tanh")
    mask = torch.tensor([[0, 4 / 3, 4 / 3], [4 / 3, 0, 4 / 3]]).double()
    pieces = lambda x: {f"y{i}": piece for i, piece in enumerate(x.split([1, 3, 2], 1))}
    far = floats(-30, -6, 0, 6, 30)
    return [
        Case("gelu", "matrix", F.gelu, {"x": draw(2, 3)}),
        Case("gelu", "far from zero", F.gelu, {"x": far}),
        Case("geluTanh", "matrix", tanh_gelu, {"x": draw(2, 3)}),
        Case("geluTanh", "far from zero", tanh_gelu, {"x": far}),
        Case(
            "dropout",
            "two of six dropped",
            lambda x, mask: x * mask,
            {"x": draw(2, 3), "mask": mask},
            fixed=("mask",),
        ),
        Case(
            "layerNorm",
            "matrix",
            layer_norm,
            {"x": draw(3, 4), "weight": draw(4), "bias": draw(4)},
            {"epsilon": 1e-5},
        ),
        Case(
            "layerNorm",
            "rank 3",
            layer_norm,
            {"x": draw(2, 2, 3), "weight": draw(3), "bias": draw(3)},
            {"epsilon": 1e-5},
        ),
        Case("mean", "all axes", lambda x: x.mean((0, 1), keepdim=True), {"x": draw(2, 3)}),
        Case(
            "mean",
            "last axis",
            lambda x: x.mean(-1, keepdim=True),
            {"x": draw(2, 3)},
            {"axes": [-1]},
        ),
        Case(
            "mean",
            "two axes",
            lambda x: x.mean((0, 2), keepdim=True),
            {"x": draw(2, 3, 2)},
            {"axes": [0, 2]},
        ),
        Case("split", "three pieces", pieces, {"x": draw(2, 6)}, {"sizes": [1, 3, 2], "axis": 1}),
        Case(
            "sumTo",
            "leading and size-1 axes",
            lambda x: x.sum_to_size(3, 1),
            {"x": draw(2, 3, 2)},
            {"shape": [3, 1]},
        ),
        Case("sumTo", "to a scalar", lambda x: x.sum_to_size(()), {"x": draw(2, 3)}, {"shape": []}),
    ]


def function_cases() -> list[Case]:
    return [*attention_cases(), *linear_cases(), *logprob_cases(), *other_cases()]
