/** Names of metrics in legends; the chart's title says what they are of. */
const names: Readonly<Record<string, string>> = {
  'objective/scores': 'score',
  'objective/rlhf_reward': 'score with KL penalty',
  'objective/non_score_reward': 'KL penalty',
  'objective/kl': 'KL',
  'objective/kl_coef': 'β',
  'objective/entropy': 'entropy per response',
  'policy/entropy_avg': 'entropy per token',
  'policy/clipfrac_avg': 'policy',
  'policy/approxkl_avg': 'KL of the update',
  'policy/grad_norm': "norm of the policy's gradient",
  'policy/early_stop': 'stopped early',
  'policy/optimizer_steps': 'optimiser steps',
  'value/grad_norm': "norm of the value model's gradient",
  'loss/policy_avg': 'policy loss',
  'loss/value_avg': 'value loss',
  'loss/kl_avg': 'KL loss',
  'train/loss': 'training',
  'train/accuracy': 'training',
  'train/margin': 'training',
  'train/grad_norm': 'norm of the gradient',
  'train/tokens': 'learned tokens',
  'eval/loss': 'validation',
  'eval/accuracy': 'validation',
  'eval/margin': 'validation',
  'eval/perplexity': 'validation',
  'eval/calibration': 'calibration error',
  'eval/reward': 'sampled',
  'eval/reward_std': 'standard deviation',
  'eval/greedy_reward': 'greedy',
  'eval/best_of_n': 'best of n',
  'eval/win_rate': 'wins over the reference',
  'eval/kl': 'KL',
  'eval/entropy': 'entropy per token',
  'eval/length': 'mean',
  'eval/repetition': 'repeated 3-grams',
  'eval/explained_variance': 'explained variance',
  'val/ratio': 'mean ρ',
  'val/ratio_var': 'variance of ρ',
  'val/clipfrac_avg': 'value',
  'val/num_eos_tokens': 'finished responses',
  'val/rollout_mismatch': 'sampling mismatch',
  'ppo/val/var_explained': 'explained variance',
  'ppo/val/vpred': 'mean value',
  'ppo/val/error': 'squared error of values',
  'ppo/returns/mean': 'mean return',
  'ppo/returns/var': 'variance of returns',
  'tools/errors/invalid_json': 'invalid JSON',
  'tools/errors/unknown_tool': 'unknown tools',
  'tools/errors/invalid_input': 'invalid inputs',
  'tools/errors/exception': 'exceptions',
  'tools/errors/timeout': 'timeouts',
  'perf/tokens_per_second': 'response tokens',
  'perf/rss_mb': 'resident memory',
  lr: 'learning rate',
  episode: 'episodes',
};

/** The name of a metric for people. Names of reward sources are unchanged; other unknown names lose
 *  their group and their underscores.
 *  @example 'objective/scores'  →  'score';  'rewards/brevity/mean'  →  'brevity'
 *  @example 'completions/max_length'  →  'max';  'my/new_metric'  →  'new metric' */
export function metricName(metric: string): string {
  if (Object.hasOwn(names, metric)) return names[metric]!;
  const source = /^(?:eval\/)?rewards\/(.+?)(?:\/mean)?$/.exec(metric)?.[1];
  if (source !== undefined) return source;
  const length = /^completions\/(.+)_length$/.exec(metric)?.[1];
  return length ?? metric.replace(/^[^/]+\//, '').replaceAll('_', ' ');
}
