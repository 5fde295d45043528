"""Writes the goldens of src/reward-kl/library to test/fixtures/rewards.

The rouge-score package, without stemming, creates rouge.json. Run with a Python that has it, then
let Biome format the file:

    python tools/oracle/rewards/make_goldens.py
    npx biome check --write test/fixtures/rewards
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

from rouge_score.rouge_scorer import RougeScorer

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "rewards"
VARIANTS = ("rouge1", "rouge2", "rougeL")

PAIRS = [
    ("The cat sat on the mat.", "On the mat lay the cat"),
    ("The cat sat on the mat.", "The cat sat on the mat."),
    ("The cat sat on the mat.", "Dogs bark"),
    ("The cat sat on the mat.", ""),
    ("", "On the mat"),
    ("", ""),
    ("one", "one"),
    ("one two", "one"),
    ("the the the", "the the the the the"),
    ("a b c d e f", "f e d c b a"),
    ("It's 3.14, isn't it?", "its 3 14 isn t it"),
    ("snake_case and kebab-case", "snake case kebab_case"),
    ("Line one.\nLine two.\n\nLine three.", "Line two.\tLine one."),
    ("Le café était fermé à midi", "le cafe etait ferme a midi"),
    ("Große Straße", "GROSSE STRASSE große"),
    ("今天天气 very 好", "very 今天"),
    ("😀 emoji 😀 text", "emoji text 😀"),
    ("temperature 20 K (kelvin)", "20 k Kelvin temperature"),
    ("...!!!", "???"),
]


def random_pairs(count: int) -> list[tuple[str, str]]:
    """Texts of few different words, so that matches are many and often ambiguous."""
    source = random.Random(0)

    def text() -> str:
        words = (source.choice("abcdefg") for _ in range(source.randint(0, 20)))
        return "".join(word + source.choice((" ", ", ", "-", "\n")) for word in words)

    return [(text(), text()) for _ in range(count)]


def main() -> None:
    scorer = RougeScorer(list(VARIANTS), use_stemmer=False)
    cases = []
    for reference, response in PAIRS + random_pairs(30):
        scores = scorer.score(reference, response)
        f1 = {variant: scores[variant].fmeasure for variant in VARIANTS}
        cases.append({"reference": reference, "response": response, **f1})
    FIXTURES.mkdir(parents=True, exist_ok=True)
    golden = {"rouge-score": version("rouge-score"), "cases": cases}
    text = json.dumps(golden, ensure_ascii=False, indent=2)
    (FIXTURES / "rouge.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
