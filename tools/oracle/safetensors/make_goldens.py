"""Writes the goldens of src/base-setup/safetensors to test/fixtures/safetensors.

safetensors creates floats.safetensors and other-dtypes.safetensors, huggingface_hub creates the
folder sharded. goldens.json has their contents; float16.json has conversions by torch and numpy. Run with
a Python that has torch, numpy, safetensors and huggingface_hub, then let Biome format the JSON:

    python tools/oracle/safetensors/make_goldens.py
    npx biome check --write test/fixtures/safetensors
"""

import hashlib
import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import save_torch_state_dict
from safetensors import safe_open
from safetensors.torch import save_file

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "safetensors"

Named = dict[str, torch.Tensor]

SPECIALS = [0.0, -0.0, 1.0, -1.5, 65504.0, 1e-7, 6e-8, -3e-5, torch.inf, -torch.inf, torch.nan]


def floats() -> Named:
    """Every float dtype, special values, a scalar, empty tensors, names that need care."""
    return {
        "model.embed_tokens.weight": torch.randn(6, 4, dtype=torch.bfloat16),
        "model.norm.weight": torch.randn(4).half(),
        "lm_head.weight": torch.randn(3, 2, 2),
        "specials.f32": torch.tensor([*SPECIALS, 1e-45, -1.1e-38, 3.4028235e38]),
        "specials.f16": torch.tensor(SPECIALS).half(),
        "specials.bf16": torch.tensor([*SPECIALS, 9.2e-41, 3.39e38]).bfloat16(),
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0),
        "empty.matrix": torch.zeros(3, 0, 2, dtype=torch.float16),
        "10": torch.tensor([10.0]),
        "9": torch.tensor([9.0]),
        "": torch.tensor([0.5]),
        "__proto__": torch.tensor([1.25]),
        'quote " slash / \\ tab \t del \x7f line \u2028': torch.tensor([1.0]),
        "größe": torch.tensor([3.0]),
        "重み": torch.tensor([4.0], dtype=torch.float16),
        "last by code point \U0001f600": torch.tensor([5.0]),
        "last by code point \uffff": torch.tensor([6.0]),
    }


def other_dtypes() -> Named:
    return {
        "i64": torch.tensor([2**62, -1, 0]),
        "i32": torch.tensor([[2**30, -2]], dtype=torch.int32),
        "i16": torch.tensor([-300, 7, 9], dtype=torch.int16),
        "i8": torch.tensor([-128, 127, 1], dtype=torch.int8),
        "u8": torch.tensor([0, 255, 3], dtype=torch.uint8),
        "bool": torch.tensor([True, False, True]),
        "f64": torch.tensor([0.1], dtype=torch.float64),
        "f32": torch.tensor([0.5]),
    }


def layers() -> Named:
    """Sizes that fill shards of 100 bytes unevenly; the fourth is larger than a shard."""
    sizes = [10, 14, 3, 30, 12, 12, 1, 25]
    return {f"model.layers.{i}.weight": torch.randn(size) for i, size in enumerate(sizes)}


def to_value(value: np.float32) -> float | str:
    """The shortest decimal of a float32; as text if JSON has no number for it."""
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return "-0" if value == 0 and np.signbit(value) else float(str(value))


def describe(file: Path) -> dict[str, Any]:
    """What Python's safetensors reads from a file."""
    with safe_open(file, framework="pt") as opened:
        tensors = []
        for name in opened.keys():
            tensor = opened.get_tensor(name)
            entry = {
                "name": name,
                "dtype": opened.get_slice(name).get_dtype(),
                "shape": list(tensor.shape),
            }
            if tensor.is_floating_point() and tensor.dtype != torch.float64:
                entry["values"] = [to_value(value) for value in tensor.float().numpy().ravel()]
            else:
                entry["hex"] = tensor.numpy().tobytes().hex()
            tensors.append(entry)
        return {"metadata": opened.metadata() or {}, "tensors": tensors}


def make_files() -> dict[str, Any]:
    torch.manual_seed(0)
    save_file(floats(), FIXTURES / "floats.safetensors", metadata={"format": "pt"})
    save_file(other_dtypes(), FIXTURES / "other-dtypes.safetensors", metadata={"clé": "valeur"})
    shutil.rmtree(FIXTURES / "sharded", ignore_errors=True)
    (FIXTURES / "sharded").mkdir()
    save_torch_state_dict(layers(), FIXTURES / "sharded", max_shard_size=100)
    files = sorted(FIXTURES.rglob("*.safetensors"))
    return {
        "safetensors": version("safetensors"),
        "huggingface_hub": version("huggingface_hub"),
        "files": {str(file.relative_to(FIXTURES)): describe(file) for file in files},
    }


def digest(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def encode_sources() -> np.ndarray:
    """Every float32 whose low 11 bits are 000, 001 or 7ff and that is not NaN.

    Among them are all ties of float16 and bfloat16, and the values right below and above.
    """
    high = np.arange(2**21, dtype=np.uint32) << 11
    bits = np.stack([high, high | 1, high | 0x7FF], axis=1).ravel()
    return bits[(bits & 0x7FFFFFFF) <= 0x7F800000].view(np.float32)


def make_float16() -> dict[str, Any]:
    """numpy keeps the payload of a NaN in float16; bfloat16 is a shift by definition."""
    patterns = np.arange(2**16, dtype=np.uint16)
    not_nan = torch.from_numpy(patterns).view(torch.bfloat16)
    not_nan = not_nan[~not_nan.isnan()]
    sources = torch.from_numpy(encode_sources())
    return {
        "torch": torch.__version__,
        "numpy": np.__version__,
        "decodeFloat16": digest(patterns.view(np.float16).astype(np.float32)),
        "decodeBfloat16": digest(patterns.astype(np.uint32) << 16),
        "decodeBfloat16WithoutNaN": digest(not_nan.float().numpy()),
        "encodeFloat16": digest(sources.half().numpy()),
        "encodeBfloat16": digest(sources.bfloat16().view(torch.uint16).numpy()),
    }


def main() -> None:
    FIXTURES.mkdir(parents=True, exist_ok=True)
    for name, golden in {"goldens": make_files(), "float16": make_float16()}.items():
        text = json.dumps(golden, ensure_ascii=False)
        (FIXTURES / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
