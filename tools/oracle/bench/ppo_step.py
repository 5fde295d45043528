"""Whole PPO updates in torch and PEFT: a peer of `npm run bench -- ppo-step`.

Run by the benchmark itself (`npm run bench -- ppo-step --peer PYTHON`), with a Python that has
torch, transformers and peft; its argument is the case as JSON, with lengths in tokens.
The update works like TRL's: padded batches, logits of whole sequences, a full
value model and a full reward model next to the policy; the reference is the policy without its
adapter. Unlike TRL's, the value model trains an adapter and its head, as Proximal's does, the
gradient is clipped, and the score is on the last token. In bfloat16 all weights, activations and
moments of AdamW are bfloat16, adapters too; sampling, log-probabilities, values and losses are
float32. Runs one update per line of stdin.
"""

import sys
from dataclasses import dataclass

import torch
from peft import PeftModel, get_peft_model
from ppo_shapes import PAD, Case, Clock, ForcedLengths, build_model, matmul_gflops, read_case
from torch import Tensor
from transformers import PreTrainedModel, Qwen3ForCausalLM, Qwen3ForSequenceClassification
from update_server import UpdateServer, facts_of

KL_COEFFICIENT, GAMMA, LAMBDA, CLIP, VALUE_CLIP, VALUE_COEFFICIENT = 0.05, 1.0, 0.95, 0.2, 0.2, 0.1
# Three models; adapters, moments and stored scores need less than half of one.
MODEL_COUNT = 3.44


@dataclass
class Models:
    policy: PeftModel
    value: PreTrainedModel
    reward: PreTrainedModel
    optimizer: torch.optim.Optimizer

    def trained(self) -> list[Tensor]:
        return self.optimizer.param_groups[0]["params"]


@dataclass
class Rollout:
    """Padded rows; per-token columns cover only the response's tokens."""

    ids: Tensor
    real: Tensor
    logprobs: Tensor
    values: Tensor
    advantages: Tensor
    returns: Tensor

    def rows(self, chosen: Tensor) -> "Rollout":
        return Rollout(**{name: column[chosen] for name, column in vars(self).items()})


def build_models(case: Case) -> Models:
    dtype = case.torch_dtype()
    # Otherwise PEFT creates float32 adapters on a bfloat16 model.
    options = {"autocast_adapter_dtype": False}
    policy = get_peft_model(build_model(Qwen3ForCausalLM, dtype), case.lora(), **options)
    value = build_model(Qwen3ForSequenceClassification, dtype)
    get_peft_model(value, case.lora(), **options)
    value.score.requires_grad_(True)
    reward = build_model(Qwen3ForSequenceClassification, dtype).requires_grad_(False)
    trained = [p for model in (policy, value) for p in model.parameters() if p.requires_grad]
    return Models(policy, value, reward, torch.optim.AdamW(trained, lr=1e-5))


def inputs_of(ids: Tensor) -> dict[str, Tensor | bool]:
    mask = ids != PAD
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    return {"input_ids": ids, "attention_mask": mask, "position_ids": positions, "use_cache": False}


def scalars_of(model: PreTrainedModel, ids: Tensor) -> Tensor:
    """The head's output at each token."""
    return model.score(model.model(**inputs_of(ids)).last_hidden_state)[..., 0].float()


def token_logprobs(logits: Tensor, tokens: Tensor) -> Tensor:
    logprobs = torch.log_softmax(logits, -1, dtype=torch.float32)
    return logprobs.gather(-1, tokens[..., None])[..., 0]


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask).sum() / mask.sum()


def whiten(x: Tensor, mask: Tensor) -> Tensor:
    centred = x - masked_mean(x, mask)
    return centred * torch.rsqrt(masked_mean(centred**2, mask) + 1e-8) * mask


def advantages_of(rewards: Tensor, values: Tensor) -> Tensor:
    """δ_t = r_t + γV_{t+1} − V_t;  A_t = δ_t + γλA_{t+1}"""
    result, advantage, following = torch.empty_like(values), 0.0, 0.0
    for t in reversed(range(values.shape[1])):
        delta = rewards[:, t] + GAMMA * following - values[:, t]
        advantage = delta + GAMMA * LAMBDA * advantage
        result[:, t], following = advantage, values[:, t]
    return result


def generate(models: Models, case: Case) -> tuple[Tensor, Tensor]:
    """Prompts with responses, and log π of the responses' tokens from the stored scores."""
    rows, context = case.prompt_rows(), max(case.prompts)
    prompts = torch.tensor([[PAD] * (context - len(row)) + row for row in rows])
    output = models.policy.generate(
        input_ids=prompts,
        attention_mask=prompts != PAD,
        do_sample=True,
        temperature=1.0,
        top_k=0,
        max_new_tokens=max(case.responses),
        logits_processor=[ForcedLengths(case, prompts)],
        return_dict_in_generate=True,
        output_scores=True,
    )
    ids = output.sequences
    return ids, token_logprobs(torch.stack(output.scores, 1), ids[:, context:])


@torch.no_grad()
def roll_out(models: Models, case: Case, *, clock: Clock) -> Rollout:
    context = max(case.prompts)
    with clock.phase("generate"):
        ids, logprobs = generate(models, case)
    tokens = ids[:, context:]
    real = tokens != PAD
    with clock.phase("reference"), models.policy.disable_adapter():
        logits = models.policy(**inputs_of(ids)).logits[:, context - 1 : -1]
        reference = token_logprobs(logits, tokens)
        del logits
    with clock.phase("value"):
        values = scalars_of(models.value, ids)[:, context - 1 : -1] * real
    with clock.phase("reward"):
        scores = scalars_of(models.reward, ids)[:, context:]
    rewards = -KL_COEFFICIENT * torch.where(real, logprobs - reference, 0)
    last = real.sum(1, keepdim=True) - 1
    rewards.scatter_add_(1, last, scores.gather(1, last))
    advantages = advantages_of(rewards, values)
    returns = advantages + values
    return Rollout(ids, real, logprobs, values, whiten(advantages, real), returns)


def loss_of(part: Rollout, logprobs: Tensor, *, values: Tensor) -> Tensor:
    """Sums over the tokens of both clipped losses."""
    ratio = torch.exp(torch.where(part.real, logprobs - part.logprobs, 0))
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
    policy = torch.max(-part.advantages * ratio, -part.advantages * clipped)
    near = part.values + (values - part.values).clamp(-VALUE_CLIP, VALUE_CLIP)
    value = 0.5 * torch.max((values - part.returns) ** 2, (near - part.returns) ** 2)
    return ((policy + VALUE_COEFFICIENT * value) * part.real).sum()


def learn(models: Models, rollout: Rollout, *, clock: Clock, micro_batch: int) -> None:
    """One step of the optimiser on the whole batch."""
    context = rollout.ids.shape[1] - rollout.real.shape[1]
    for chosen in torch.randperm(len(rollout.ids)).split(micro_batch):
        part = rollout.rows(chosen)
        with clock.phase("update_forward"):
            logits = models.policy(**inputs_of(part.ids)).logits[:, context - 1 : -1]
            logprobs = token_logprobs(logits, part.ids[:, context:])
            values = scalars_of(models.value, part.ids)[:, context - 1 : -1]
        loss = loss_of(part, logprobs, values=values) / rollout.real.sum()
        with clock.phase("update_backward"):
            loss.backward()
        with torch.no_grad():
            # The entropy that the trainer logs.
            torch.logsumexp(logits, -1) - (torch.softmax(logits, -1) * logits).sum(-1)
    norm = torch.nn.utils.clip_grad_norm_(models.trained(), 1.0)
    if not torch.isfinite(norm):
        raise ValueError(f"Internal: the gradient's norm must be finite, got {norm}")
    models.optimizer.step()
    models.optimizer.zero_grad()


def run_update(models: Models, case: Case, *, clock: Clock, micro_batch: int) -> dict:
    clock.start()
    rollout = roll_out(models, case, clock=clock)
    for _ in range(case.epochs):
        learn(models, rollout, clock=clock, micro_batch=micro_batch)
    return clock.end_update()


def main() -> None:
    case, server, clock = read_case(sys.argv[1]), UpdateServer(), Clock()
    micro_batch = case.micro_batch(MODEL_COUNT)
    models = build_models(case)
    server.answer({"warmup": run_update(models, case, clock=clock, micro_batch=micro_batch)})
    while server.wait():
        server.answer(run_update(models, case, clock=clock, micro_batch=micro_batch))
    speed = matmul_gflops(case.torch_dtype())
    packages = ("torch", "transformers", "peft")
    server.answer(facts_of(packages, micro_batch=micro_batch, matmul_gflops=speed))


if __name__ == "__main__":
    main()
