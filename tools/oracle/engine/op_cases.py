"""Golden cases of src/engine/graph/ops."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from golden_case import Case, bools, draw, floats, ints


def unary_cases() -> list[Case]:
    positive = {"low": 0.25, "high": 3}
    anywhere = {"low": -3, "high": 3}
    functions: dict[str, tuple[Callable[[Tensor], Tensor], dict[str, float]]] = {
        "neg": (torch.neg, anywhere),
        "exp": (torch.exp, anywhere),
        "log": (torch.log, positive),
        "sqrt": (torch.sqrt, positive),
        "rsqrt": (torch.rsqrt, positive),
        "tanh": (torch.tanh, anywhere),
        "sigmoid": (torch.sigmoid, anywhere),
        "erf": (torch.erf, anywhere),
        "abs": (torch.abs, anywhere),
        "silu": (F.silu, anywhere),
    }
    cases = []
    for name, (function, span) in functions.items():
        call = lambda x, function=function: function(x)
        cases.append(Case(name, "matrix", call, {"x": draw(2, 3, **span)}))
        cases.append(Case(name, "scalar", call, {"x": draw(**span)}))
    far = floats(-100, -20, 0, 20, 80)
    return [
        *cases,
        Case("abs", "zero has the gradient zero", torch.abs, {"x": floats(-1, 0, 2)}),
        Case("tanh", "far from zero", torch.tanh, {"x": far}),
        Case("sigmoid", "far from zero", torch.sigmoid, {"x": far}),
        Case("erf", "far from zero", torch.erf, {"x": far}),
        Case("silu", "far from zero", F.silu, {"x": far}),
        Case(
            "sign",
            "both sides and zero",
            lambda x: torch.sign(x.detach()),
            {"x": floats(-2, 0, 0.5)},
        ),
        Case(
            "cast",
            "to int32 cuts towards zero",
            lambda x: x.detach().to(torch.int32),
            {"x": floats(-2.75, -0.5, 0, 0.5, 2.75)},
            {"to": "int32"},
        ),
        Case(
            "cast",
            "bool to float32",
            lambda x: x.double(),
            {"x": bools(True, False)},
            {"to": "float32"},
        ),
        Case(
            "cast",
            "int32 to float32",
            lambda x: x.double(),
            {"x": ints(-3, 0, 7)},
            {"to": "float32"},
        ),
    ]


def binary_cases() -> list[Case]:
    cases = []
    differentiable = {
        "add": torch.add,
        "sub": torch.sub,
        "mul": torch.mul,
        "div": torch.div,
        "pow": torch.pow,
        "min": torch.minimum,
        "max": torch.maximum,
    }
    for name, function in differentiable.items():
        low = {"div": 0.5, "pow": 0.25}.get(name, -2)
        call = lambda a, b, function=function: function(a, b)

        def operands(first: tuple[int, ...], second: tuple[int, ...], low: float = low):
            return {"a": draw(*first, low=low), "b": draw(*second, low=low)}

        cases += [
            Case(name, "same shape", call, operands((2, 3), (2, 3))),
            Case(name, "both sides broadcast", call, operands((2, 1, 3), (4, 1))),
            Case(name, "scalar on the left", call, operands((), (2, 2))),
            Case(name, "size 1 under higher rank", call, operands((2, 2), (1, 1, 1))),
        ]
    ties = {"a": floats(1, 2, 3, -1), "b": floats(1, 3, 2, -1)}
    comparisons = {
        "equal": torch.eq,
        "less": torch.lt,
        "lessEqual": torch.le,
        "greater": torch.gt,
        "greaterEqual": torch.ge,
    }
    for name, function in comparisons.items():
        cases.append(Case(name, "of floats, with ties", function, ties))
        whole = {"a": ints([0, 1, 2]), "b": ints([1], [2])}
        cases.append(Case(name, "of integers, broadcast", function, whole))
    return [
        *cases,
        Case("div", "signs", torch.div, {"a": floats(1, -3, 0), "b": floats(-2, -0.5, 4)}),
        Case(
            "pow",
            "negative and zero bases under whole exponents",
            torch.pow,
            {"a": floats(-2, -0.5, 0, 0), "b": floats(3, -2, 1, 2)},
            fixed=("b",),
        ),
        Case("min", "ties share the gradient", torch.minimum, ties),
        Case("max", "ties share the gradient", torch.maximum, ties),
        Case(
            "min",
            "ties under broadcasting",
            torch.minimum,
            {"a": floats([1, 2]), "b": floats([1], [2])},
        ),
        Case(
            "max",
            "ties under broadcasting",
            torch.maximum,
            {"a": floats([1, 2]), "b": floats([1], [2])},
        ),
        Case(
            "clip",
            "borders belong to the interval",
            lambda x: torch.clamp(x, -0.5, 1),
            {"x": floats([-2, -0.5, 0], [1, 1.25, 3])},
            {"min": -0.5, "max": 1},
        ),
        Case(
            "where",
            "all three broadcast",
            torch.where,
            {"condition": bools([[True], [False]]), "a": draw(3, 1, 2), "b": draw(2)},
        ),
    ]


def adapted_linear_cases() -> list[Case]:
    def case(name: str, sizes: tuple[int, int, int, int], scaling: float) -> Case:
        def compute(x: Tensor, weight: Tensor, a: Tensor, b: Tensor) -> Tensor:
            return x @ weight.mT + scaling * (x @ a.mT @ b.mT)

        rows, inner, out, r = sizes
        inputs = {
            "x": draw(rows, inner),
            "weight": draw(out, inner),
            "a": draw(r, inner),
            "b": draw(out, r),
        }
        attributes = {"scaling": scaling}
        return Case("adaptedLinear", name, compute, inputs, attributes, fixed=("weight",))

    return [case("rank 2", (3, 4, 5, 2), 2), case("one row, rank 1", (1, 2, 3, 1), 0.5)]


def matmul_cases() -> list[Case]:
    def case(name: str, a: tuple[int, ...], b: tuple[int, ...], **attributes) -> Case:
        def compute(a: Tensor, b: Tensor) -> Tensor:
            left = a.mT if attributes.get("transA") else a
            right = b.mT if attributes.get("transB") else b
            return attributes.get("alpha", 1) * (left @ right)

        return Case("matmul", name, compute, {"a": draw(*a), "b": draw(*b)}, attributes)

    return [
        case("plain", (2, 3), (3, 4)),
        case("one row", (1, 3), (3, 2)),
        case("inner size 1", (2, 1), (1, 3)),
        case("transA", (3, 2), (3, 4), transA=True),
        case("transB", (2, 3), (4, 3), transB=True, alpha=0.5),
        case("both transposed", (3, 2), (4, 3), transA=True, transB=True, alpha=-2),
        case("batched rows times one weight", (2, 2, 3), (4, 3), transB=True),
        case("one matrix times a batch", (2, 3), (3, 3, 2)),
        case("batches broadcast", (2, 1, 2, 3), (3, 3, 2)),
        case(
            "batches broadcast, both transposed",
            (1, 2, 3, 2),
            (2, 1, 2, 3),
            transA=True,
            transB=True,
        ),
    ]


def byte_product_cases() -> list[Case]:
    def case(name: str, shape: list[int], bytes: list[int], *, transposed: bool) -> Case:
        weight = torch.tensor(bytes, dtype=torch.float64).reshape(shape)
        right = weight.mT if transposed else weight
        inner, out = right.shape
        return Case(
            "byteProduct",
            name,
            lambda x, scales: (x @ right) * scales,
            {"x": draw(2, inner), "scales": draw(out)},
            {"shape": shape, "bytes": bytes, "transposed": transposed},
            fixed=("scales",),
        )

    bytes = [127, -3, 0, 5, -127, 64]
    return [
        case("plain", [3, 2], bytes, transposed=False),
        case("transposed", [2, 3], bytes, transposed=True),
    ]


def reduce_cases() -> list[Case]:
    cases = []
    for axes in (None, [0], [1], [-1], [0, 2], [-2, -1]):
        dims = axes or [0, 1, 2]
        attributes = {} if axes is None else {"axes": axes}
        name = f"axes {axes}" if axes else "all axes"
        x = {"x": draw(2, 3, 2)}
        cases += [
            Case("sum", name, lambda x, dims=dims: x.sum(dims, keepdim=True), x, attributes),
            Case("maxOf", name, lambda x, dims=dims: x.amax(dims, keepdim=True), x, attributes),
            Case(
                "count",
                name,
                lambda x, dims=dims: floats(*[x.shape[dim] for dim in dims]).prod(),
                {"x": draw(2, 3, 2)},
                attributes,
            ),
        ]
    ties = floats([1, 3, 3], [2, 2, 2], [0, -1, 4])
    tied = lambda x: x.amax(1, keepdim=True)
    return [*cases, Case("maxOf", "ties share the gradient", tied, {"x": ties}, {"axes": [1]})]


def layout_cases() -> list[Case]:
    def one(function: str, name: str, size: tuple[int, ...], compute, **attributes) -> Case:
        return Case(function, name, compute, {"x": draw(*size)}, attributes)

    def concat(name: str, axis: int, *shapes: tuple[int, ...]) -> Case:
        inputs = {f"x{i}": draw(*shape) for i, shape in enumerate(shapes)}
        return Case("concat", name, lambda *xs: torch.cat(xs, axis), inputs, {"axis": axis})

    return [
        one("reshape", "merge and split", (2, 3, 2), lambda x: x.reshape(3, 4), shape=[3, 4]),
        one("reshape", "to a scalar", (1, 1), lambda x: x.reshape(()), shape=[]),
        one(
            "broadcastTo",
            "new and size-1 axes",
            (2, 1),
            lambda x: x.expand(3, 2, 2),
            shape=[3, 2, 2],
        ),
        one("broadcastTo", "scalar", (), lambda x: x.expand(2, 2), shape=[2, 2]),
        one("transpose", "cycle", (2, 3, 4), lambda x: x.permute(1, 2, 0), permutation=[1, 2, 0]),
        one("transpose", "matrix", (2, 3), lambda x: x.T, permutation=[1, 0]),
        one("slice", "inside an axis", (2, 5), lambda x: x[:, 1:4], axis=1, start=1, end=4),
        one("slice", "from a start", (3, 2, 2), lambda x: x[1:], axis=0, start=1),
        one("slice", "nothing", (3,), lambda x: x[2:2], start=2, end=2),
        one("pad", "both sides", (2, 2), lambda x: F.pad(x, (1, 2)), before=1, after=2),
        one("pad", "first axis", (2, 2), lambda x: F.pad(x, (0, 0, 3, 0)), axis=0, before=3),
        concat("last axis", -1, (2, 1), (2, 3), (2, 2)),
        concat("first axis", 0, (1, 2), (3, 2)),
        concat("one piece", 1, (2, 2)),
    ]


def gather_cases() -> list[Case]:
    def permute_rows(x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
        """Rows that the inverse does not name are padding: their gradient is dropped."""
        real = torch.zeros(index.numel(), dtype=torch.bool)
        real[inverse] = True
        y = x[index]
        keep = real.reshape(*index.shape, *[1] * (x.dim() - 1))
        return torch.where(keep, y, y.detach())

    def scatter_rows(updates: Tensor, index: Tensor) -> Tensor:
        rows = updates.reshape(index.numel(), *updates.shape[index.dim() :])
        return torch.zeros(4, *rows.shape[1:], dtype=rows.dtype).index_add(0, index.flatten(), rows)

    def gather_last(x: Tensor, index: Tensor) -> Tensor:
        return x.gather(-1, index.long()[..., None])[..., 0]

    def scatter_last(updates: Tensor, index: Tensor) -> Tensor:
        zeros = torch.zeros(*index.shape, 4, dtype=updates.dtype)
        return zeros.scatter(-1, index.long()[..., None], updates[..., None])

    rows = lambda x, index: x[index]
    first_largest = lambda x: torch.argmax(x.detach(), -1).int()
    return [
        Case("gatherRows", "repeated rows", rows, {"x": draw(4, 2), "index": ints(3, 0, 3, 3)}),
        Case(
            "gatherRows",
            "matrix of indices",
            rows,
            {"x": draw(3, 2), "index": ints([0, 2], [2, 2])},
        ),
        Case("gatherRows", "scalar index", rows, {"x": draw(3, 2), "index": ints(1)[0]}),
        Case("gatherRows", "of a vector", rows, {"x": draw(3), "index": ints(2, 2, 0)}),
        Case("gatherRows", "of blocks", rows, {"x": draw(3, 2, 2), "index": ints(1, 1)}),
        Case(
            "scatterAddRows",
            "shared rows",
            scatter_rows,
            {"updates": draw(3, 2), "index": ints(2, 0, 2)},
            {"rows": 4},
        ),
        Case(
            "scatterAddRows",
            "matrix of indices",
            scatter_rows,
            {"updates": draw(2, 2, 3), "index": ints([1, 1], [3, 1])},
            {"rows": 4},
        ),
        Case(
            "permuteRows",
            "a permutation",
            permute_rows,
            {"x": draw(3, 2), "index": ints(2, 0, 1), "inverse": ints(1, 2, 0)},
        ),
        Case(
            "permuteRows",
            "packed to padded",
            permute_rows,
            {"x": draw(3, 2), "index": ints([0, 1], [2, 0]), "inverse": ints(0, 1, 2)},
        ),
        Case("gatherLast", "matrix", gather_last, {"x": draw(3, 4), "index": ints(3, 0, 3)}),
        Case(
            "gatherLast", "rank 3", gather_last, {"x": draw(2, 2, 3), "index": ints([0, 2], [1, 1])}
        ),
        Case("gatherLast", "of a vector", gather_last, {"x": draw(3), "index": ints(2)[0]}),
        Case(
            "scatterLast",
            "vector",
            scatter_last,
            {"updates": draw(3), "index": ints(3, 0, 3)},
            {"size": 4},
        ),
        Case(
            "scatterLast",
            "matrix",
            scatter_last,
            {"updates": draw(2, 2), "index": ints([0, 2], [1, 1])},
            {"size": 4},
        ),
        Case("argmax", "matrix", first_largest, {"x": floats([1, 4, 2], [-3, -2, -5])}),
        Case(
            "topKIndices",
            "matrix",
            lambda x: torch.topk(x.detach(), 2).indices.int(),
            {"x": floats([1, 4, 2], [-3, -2, -5])},
            {"k": 2},
        ),
    ]


def fused_cases() -> list[Case]:
    def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """As transformers writes it: the halves of each head are the two coordinates."""
        rotated = torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1)
        whole = lambda table: torch.cat([table, table], -1)[:, None]
        return x * whole(cos) + rotated * whole(sin)

    softmax = lambda x: x.softmax(-1)
    log_softmax = lambda x: x.log_softmax(-1)
    sharp = floats([60, -40, 0], [0.5, 0.5, 0.5], [-1000, -1001, -1000])
    rms_norm = lambda x, weight: F.rms_norm(x, weight.shape, weight, 1e-6)
    angles = draw(3, 2)
    tables = {"cos": angles.cos().float().double(), "sin": angles.sin().float().double()}
    return [
        Case("detach", "matrix", lambda x: x.detach(), {"x": draw(2, 3)}),
        Case("softmax", "matrix", softmax, {"x": draw(3, 4)}),
        Case("softmax", "vector", softmax, {"x": draw(4)}),
        Case("softmax", "one element", softmax, {"x": draw(2, 2, 1)}),
        Case("softmax", "large numbers", softmax, {"x": floats([1000, 999, -1000], [-1e9, 0, 1])}),
        Case("logSoftmax", "matrix", log_softmax, {"x": draw(3, 4)}),
        Case("logSoftmax", "rank 3", log_softmax, {"x": draw(2, 2, 3)}),
        Case("logSoftmax", "large numbers and ties", log_softmax, {"x": sharp}),
        Case(
            "rmsNorm", "matrix", rms_norm, {"x": draw(3, 4), "weight": draw(4)}, {"epsilon": 1e-6}
        ),
        Case(
            "rmsNorm",
            "rank 3",
            rms_norm,
            {"x": draw(2, 2, 3), "weight": draw(3)},
            {"epsilon": 1e-6},
        ),
        Case(
            "rmsNorm",
            "large epsilon",
            lambda x, weight: F.rms_norm(x, weight.shape, weight, 0.5),
            {"x": draw(2, 3) / 16, "weight": draw(3)},
            {"epsilon": 0.5},
        ),
        Case("rope", "two heads", rope, {"x": draw(3, 2, 4), **tables}, fixed=("cos", "sin")),
        Case("rope", "one head", rope, {"x": draw(3, 1, 4), **tables}, fixed=("cos", "sin")),
    ]


def op_cases() -> list[Case]:
    return [
        *unary_cases(),
        *binary_cases(),
        *matmul_cases(),
        *reduce_cases(),
        *layout_cases(),
        *gather_cases(),
        *fused_cases(),
        Case("keep", "matrix", lambda x: x.clone(), {"x": draw(2, 3)}),
        *adapted_linear_cases(),
        *byte_product_cases(),
    ]
