import { scoreWeightName } from '../base-setup/lora/peft-config.ts';
import { lengthsOf } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { compile, tensor } from '../engine/runtime/index.ts';
import { type Experience, selectSequences } from '../experience-buffer/experience.ts';
import { NonFiniteError } from '../loop/train-loop.ts';
import { forward } from '../models/decoder/forward.ts';
import { logprobsGraph, scalarGraph } from '../models/decoder/head-graph.ts';

import type { PolicyModel, ValueModel } from '../models/index.ts';
import { packResponses, stateRows } from '../models/responses.ts';
import { type MicroBatchOptions, microBatches } from './micro-batches.ts';

interface Suspects {
  readonly batch: Experience;
  readonly config: Pick<PPOConfig, 'temperature'> & MicroBatchOptions;
  readonly policy: PolicyModel;
  readonly value?: ValueModel | undefined;
}

/** Throws if losses or gradients are not finite, and names the first op that produced such a number. */
export async function expectFinite(
  metrics: Readonly<Record<string, number>>,
  suspects: Suspects,
): Promise<void> {
  const bad = Object.entries(metrics).find(
    ([name, number]) => /^loss\/|\/grad_norm$/.test(name) && !Number.isFinite(number),
  );
  if (bad === undefined) return;
  const source = (await findColumn(suspects.batch)) ?? (await findOp(suspects));
  throw new NonFiniteError(
    `Cannot run an optimiser step: ${bad[0]} must be finite, got ${bad[1]}; ${source}; lower the learning rate or check the rewards`,
  );
}

/** The first number of the experience that is not finite. */
function findColumn({ sequences: _, ...columns }: Experience): string | undefined {
  for (const [name, column] of Object.entries(columns)) {
    const place = column.findIndex((number: number) => !Number.isFinite(number));
    if (place >= 0) return `${name}[${place}] of the experience is ${column[place]}`;
  }
  return undefined;
}

/** Runs both models again and checks every value. */
async function findOp({ batch, config, policy, value }: Suspects): Promise<string> {
  for (const indices of microBatches(batch, config)) {
    const part = selectSequences(batch, indices);
    for (const [name, role] of Object.entries({ policy, value })) {
      if (role === undefined) continue;
      try {
        await runChecked(role, part, config.temperature);
      } catch (error) {
        return `in the ${name} model, ${lowerFirst((error as Error).message)}`;
      }
    }
  }
  return 'the forward passes are finite, so it comes from the gradients';
}

async function runChecked(
  role: PolicyModel | ValueModel,
  part: Experience,
  temperature: number,
): Promise<void> {
  const { base } = role;
  const batch = packResponses(part);
  const { hidden } = await forward(role, batch, { checkNumerics: true });
  const isScalar = 'head' in role;
  const counts = lengthsOf(isScalar ? part.stepOffsets : part.offsets);
  const x = await base.deviceRows.take(hidden, stateRows(batch, part, counts));
  const graph = (isScalar ? scalarGraph : logprobsGraph)(base.architecture);
  const head = await compile(graph, { device: base.backend, checkNumerics: true });
  const inputs = isScalar
    ? { [scoreWeightName]: role.head }
    : {
        tokens: tensor(part.tokens, [part.tokens.length]),
        temperature: tensor(Float32Array.of(temperature), []),
      };
  try {
    await head.run(await base.headFeeds(head, { x, ...inputs }));
  } finally {
    await head.dispose();
  }
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
