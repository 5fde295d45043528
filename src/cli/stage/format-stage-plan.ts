import { formatTable } from '../inspect/format-table.ts';
import { bold, type Output } from '../terminal.ts';
import { shorten } from '../train/shorten.ts';
import { formatBytes, formatCount, formatSeconds, formatWhole } from '../units.ts';
import type { StagePlan } from './plan-stage.ts';

/** A plan as text for people.
 *  @param options.prefix what a run without a name is called */
export function formatStagePlan(
  plan: StagePlan,
  { prefix, output }: { readonly prefix: string; readonly output: Output },
): string {
  const sections: readonly (readonly [string, string])[] = [
    [`Model ${shorten(plan.model)}`, formatModel(plan)],
    ['Data', formatData(plan, prefix)],
    ['Course', formatCourse(plan)],
    ['Estimates', formatEstimates(plan)],
  ];
  const text = sections.map(([title, body]) => `${bold(title, output)}\n${body}`);
  return [...text, 'Nothing was trained; leave out --dry-run to start.'].join('\n\n');
}

function formatModel({ family, parameters, trainable }: StagePlan): string {
  const share = `${((100 * trainable) / parameters).toFixed(2)} % of the base`;
  return formatTable(
    [
      ['base', formatCount(parameters), family],
      ['trained', formatCount(trainable), share],
    ],
    'lrl',
  );
}

function formatData(plan: StagePlan, prefix: string): string {
  const { unit, train, validation, warnings, output } = plan;
  return formatTable([
    [`${unit} to train on`, formatWhole(train)],
    ['to validate on', validation === 0 ? 'none' : formatWhole(validation)],
    ...warnings.map((warning) => ['warning', warning]),
    ['run folder', output === undefined ? `runs/${prefix}-<time>` : shorten(output)],
  ]);
}

function formatCourse({ totalSteps, stepsPerEpoch, validations }: StagePlan): string {
  return formatTable(
    [
      ['steps', formatWhole(totalSteps), `${formatWhole(stepsPerEpoch)} in an epoch`],
      ['validations', formatWhole(validations), ''],
    ],
    'lrl',
  );
}

function formatEstimates({ memory, longest, unit, matmulFlops, seconds }: StagePlan): string {
  const table = formatTable(
    [
      ['memory', formatBytes(memory)],
      ['time', `about ${formatSeconds(seconds)}`],
    ],
    'lr',
  );
  const single = unit === 'pairs' ? 'pair' : 'text';
  return [
    table,
    `  Memory is for the longest ${single}, of ${formatWhole(longest)} tokens; Node and ONNX Runtime take about`,
    `  150 MB more. Time is that of the products of matrices alone, at ${Math.round(matmulFlops / 1e9)} GFLOPS as just`,
    '  measured here; small models take longer.',
  ].join('\n');
}
