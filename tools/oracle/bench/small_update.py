"""Updates of a small policy in torch and PEFT: the peer of `npm run bench -- small-update`.

Run by the benchmark itself (`npm run bench -- small-update --peer PYTHON`), with a Python that has
torch, transformers and peft; its argument is the shape as JSON. LoRA r = 16 on all linears of the
embedded model, PPO's clipped loss on the response tokens, gradient clipping, fused AdamW. Texts
have equal lengths, so nothing is padded, and the output head runs on the responses only. Runs one
update per line of stdin, each on new random tokens; log π_old is not part of the measured time.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor
from transformers import Qwen3ForCausalLM
from update_server import UpdateServer, facts_of

EMBEDDED = Path(__file__).parents[3] / "embedded"
CLIP, WARMUP = 0.2, 3


@dataclass
class Shape:
    sequences: int
    prompt_tokens: int
    response_tokens: int
    threads: int
    dtype: str


def build_policy(shape: Shape) -> PeftModel:
    model = Qwen3ForCausalLM.from_pretrained(EMBEDDED, dtype=getattr(torch, shape.dtype))
    lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear")
    return get_peft_model(model, lora, autocast_adapter_dtype=False)


def logprobs_of(policy: PeftModel, ids: Tensor, shape: Shape) -> Tensor:
    """log π of the response tokens."""
    kept = shape.response_tokens + 1
    logits = policy(input_ids=ids, use_cache=False, logits_to_keep=kept).logits[:, :-1]
    logprobs = torch.log_softmax(logits, -1, dtype=torch.float32)
    return logprobs.gather(-1, ids[:, shape.prompt_tokens :, None])[..., 0]


def run_update(policy: PeftModel, optimizer: torch.optim.Optimizer, shape: Shape) -> dict:
    """Seconds of forward, backward and one step of the optimiser."""
    length = shape.prompt_tokens + shape.response_tokens
    ids = torch.randint(policy.config.vocab_size, (shape.sequences, length))
    advantages = torch.randn(shape.sequences, shape.response_tokens)
    with torch.no_grad():
        old = logprobs_of(policy, ids, shape)
    start = time.perf_counter()
    ratio = torch.exp(logprobs_of(policy, ids, shape) - old)
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
    loss = torch.max(-advantages * ratio, -advantages * clipped).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return {"seconds": time.perf_counter() - start}


def main() -> None:
    shape, server = Shape(**json.loads(sys.argv[1])), UpdateServer()
    torch.set_num_threads(shape.threads)
    torch.manual_seed(0)
    policy = build_policy(shape)
    trained = [p for p in policy.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, fused=True)
    for _ in range(WARMUP):
        run_update(policy, optimizer, shape)
    server.answer({"trained": sum(p.numel() for p in trained)})
    while server.wait():
        server.answer(run_update(policy, optimizer, shape))
    server.answer(facts_of(("torch", "transformers", "peft")))


if __name__ == "__main__":
    main()
