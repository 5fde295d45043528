import { formatTable } from '../inspect/format-table.ts';
import { bold, type Output } from '../terminal.ts';
import { formatBytes, formatCount, formatSeconds, formatWhole } from '../units.ts';
import type { RunPlan } from './plan-run.ts';
import { shorten } from './shorten.ts';

/** A plan as text for people. */
export function formatPlan(plan: RunPlan, output: Output): string {
  const sections: readonly (readonly [string, string])[] = [
    [`Model ${shorten(plan.model)}`, formatModel(plan)],
    ['Data', formatData(plan)],
    ['Course', formatCourse(plan)],
    ['Estimates', formatEstimates(plan)],
  ];
  const text = sections.map(([title, body]) => `${bold(title, output)}\n${body}`);
  return [...text, 'Nothing was trained; leave out --dry-run to start.'].join('\n\n');
}

function formatModel({ family, parameters, trainable }: RunPlan): string {
  const { policy, value } = trainable;
  const share = `${((100 * (policy + value)) / parameters).toFixed(2)} % of the base`;
  return formatTable(
    [
      ['base', formatCount(parameters), `${family}, frozen, one copy for all roles`],
      ['policy, trained', formatCount(policy), 'LoRA'],
      ...(value === 0 ? [] : [['value model, trained', formatCount(value), 'LoRA and head']]),
      ['trained in all', formatCount(policy + value), share],
    ],
    'lrl',
  );
}

function formatData({ prompts, dropped, rewards, output }: RunPlan): string {
  const { train, validation } = prompts;
  return formatTable([
    ['prompts to train on', formatWhole(train)],
    ['to validate on', validation === 0 ? 'none: nothing is evaluated' : formatWhole(validation)],
    ...(dropped === undefined ? [] : [['warning', dropped]]),
    ['rewards', rewards.join(', ')],
    ['run folder', output === undefined ? 'runs/ppo-<time>' : shorten(output)],
  ]);
}

function formatCourse(plan: RunPlan): string {
  return formatTable(
    [
      ['steps', formatWhole(plan.totalSteps), `${formatWhole(plan.stepsPerEpoch)} in an epoch`],
      [
        'responses',
        formatWhole(plan.totalSteps * plan.responsesPerStep),
        `${plan.responsesPerStep} in a step`,
      ],
      ['optimiser steps', formatWhole(plan.optimizerSteps), ''],
      ['evaluations', formatWhole(plan.evaluations), describeEvaluations(plan)],
    ],
    'lrl',
  );
}

function describeEvaluations({ evaluations, prompts }: RunPlan): string {
  const isUnscored = evaluations === 0 && prompts.validation > 0;
  return isUnscored ? 'nobody is asked to score them, and there is no other reward' : '';
}

function formatEstimates(plan: RunPlan): string {
  const { memory, fit, longestSequence, matmulFlops, seconds } = plan;
  const speed = `${Math.round(matmulFlops / 1e9)} GFLOPS`;
  const table = formatTable(
    [
      ['memory while generating', formatBytes(memory.rollout)],
      ['memory while training', formatBytes(memory.update)],
      ['time', `about ${formatSeconds(seconds)}`],
    ],
    'lr',
  );
  return [
    table,
    ...(fit === undefined ? [] : [`  ${fit}.`]),
    `  Memory is that of the process, for texts of ${longestSequence} tokens, the longest.`,
    `  Time is that of the products of matrices alone, at ${speed} as just`,
    '  measured here, if every response is as long as it may be; small models take longer.',
  ].join('\n');
}
