"""Prints the goldens of src/engine/random, from a second implementation of the same definition.

Words come from sfc32 as PractRand defines it (three seed words, counter 1, fifteen outputs
discarded); streams from hashlib and json. Run with any Python 3 and compare with the numbers
in src/engine/random/*.test.ts:

    python tools/oracle/random/print_goldens.py
"""

import hashlib
import json
import math
from collections.abc import Iterator

WORD = 2**32


def sfc32(a: int, b: int, c: int) -> Iterator[int]:
    counter = 1
    position = 0
    while True:
        out = (a + b + counter) % WORD
        counter = (counter + 1) % WORD
        a = b ^ (b >> 9)
        b = (c + c * 8) % WORD
        rotated = (c * 2**21) % WORD + c // 2**11
        c = (rotated + out) % WORD
        position += 1
        if position > 15:
            yield out


def wholes(*names: str | int) -> Iterator[int]:
    """Whole numbers below 2**53 of the stream with this seed and these keys."""
    text = json.dumps(names, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).digest()
    words = sfc32(*(int.from_bytes(digest[i : i + 4], "big") for i in (0, 4, 8)))
    while True:
        high, low = next(words), next(words)
        yield (high >> 5) * 2**26 + (low >> 6)


def normals(stream: Iterator[int]) -> Iterator[float]:
    while True:
        u, v = next(stream) / 2**53, next(stream) / 2**53
        yield math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)


def shuffle(stream: Iterator[int], items: list[int]) -> list[int]:
    for i in range(len(items) - 1, 0, -1):
        j = next(stream) % (i + 1)  # rejected samples are too rare to occur here
        items[i], items[j] = items[j], items[i]
    return items


def take(count: int, values: Iterator[int] | Iterator[float]) -> list[int | float]:
    return [next(values) for _ in range(count)]


def main() -> None:
    print("sfc32 of (0, 2, 1):", [f"0x{word:08x}" for word in take(16, sfc32(0, 2, 1))])
    for names in ((42, "sampling", 7, 0, 3, 11), ("seed", "Daten – 数据 🎲 \"\\\n", -1)):
        print(json.dumps(names, ensure_ascii=False))
        print("  next():", [whole / 2**53 for whole in take(4, wholes(*names))])
        print("  normal():", take(3, normals(wholes(*names))))
        print("  integer(6):", [whole % 6 for whole in take(10, wholes(*names))])
        print("  shuffle(0…9):", shuffle(wholes(*names), list(range(10))))


if __name__ == "__main__":
    main()
