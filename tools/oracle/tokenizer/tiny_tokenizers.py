"""Small tokenizers built like those of models whose files must not be in the repository."""

import json

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
Parts = tuple[dict[str, int], list[tuple[str, str]]]


def read_model(tokenizer: Tokenizer) -> Parts:
    """Vocabulary and merges of a trained tokenizer."""
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def train_byte_level(texts: list[str], splitter: pre_tokenizers.PreTokenizer) -> Parts:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitter
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=380, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return read_model(tokenizer)


def like_llama2(texts: list[str]) -> Tokenizer:
    """Sentencepiece: a prefix `▁`, no splitting, bytes for letters that are not in the vocabulary."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=220, limit_alphabet=60, show_progress=False)
    trained.train_from_iterator(texts, trainer)
    vocab, merges = read_model(trained)
    special = ["<unk>", "<s>", "</s>"]
    names = special + [f"<0x{byte:02X}>" for byte in range(256)] + sorted(vocab, key=vocab.get)
    ids = {name: i for i, name in enumerate(names)}
    model = models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in special])
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return tokenizer


def like_llama3(texts: list[str]) -> Tokenizer:
    """Byte-level, numbers in groups of three, whole words before merges."""
    splitter = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA3_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    vocab, merges = train_byte_level(texts, splitter)
    # A word that no merges lead to is found only when they are ignored.
    vocab["Ġunmergeable"] = len(vocab)
    tokenizer = Tokenizer(models.BPE(vocab, merges, ignore_merges=True))
    names = ["begin_of_text", "end_of_text", "eot_id", "reserved_special_token_0"]
    tokenizer.add_special_tokens([f"<|{name}|>" for name in names])
    tokenizer.pre_tokenizer = splitter
    begin = ("<|begin_of_text|>", tokenizer.token_to_id("<|begin_of_text|>"))
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single=f"{begin[0]} $A", special_tokens=[begin]),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def like_smollm(texts: list[str]) -> Tokenizer:
    """Byte-level with GPT-2's splitting, every digit is its own token."""
    splitter = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    vocab, merges = train_byte_level(texts, splitter)
    tokenizer = Tokenizer(models.BPE(vocab, merges))
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.pre_tokenizer = splitter
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def make_tiny_tokenizers(texts: list[str]) -> dict[str, Tokenizer]:
    return {
        "tiny-llama2": like_llama2(texts),
        "tiny-llama3": like_llama3(texts),
        "tiny-smollm": like_smollm(texts),
    }
