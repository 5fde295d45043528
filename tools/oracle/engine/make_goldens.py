"""Writes the goldens of src/engine/graph to test/fixtures/engine: ops.json and functions.json.

Inputs are exact in float32; torch computes outputs and gradients (autograd) in float64, which are
then rounded to float32. Run with a Python that has torch, then let Biome format the files:

    python -B tools/oracle/engine/make_goldens.py
    npx biome check --write test/fixtures/engine
"""

import json
from pathlib import Path

import torch

from function_cases import function_cases
from golden_case import solve
from op_cases import op_cases

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "engine"


def main() -> None:
    FIXTURES.mkdir(parents=True, exist_ok=True)
    for name, make_cases in {"ops": op_cases, "functions": function_cases}.items():
        torch.manual_seed(0)
        golden = {"torch": torch.__version__, "cases": [solve(case) for case in make_cases()]}
        (FIXTURES / f"{name}.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
