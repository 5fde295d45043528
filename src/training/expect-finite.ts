import type { PPOConfig } from '../config/ppo-config.ts';
import { compile, type Tensor, tensor } from '../engine/runtime/index.ts';
import { type Experience, selectSequences } from '../experience-buffer/experience.ts';
import { NonFiniteError } from '../loop/index.ts';
import { logprobsGraph, scalarGraph } from '../models/decoder/head-graph.ts';
import { takeRows } from '../models/decoder/take-rows.ts';
import { layerGraph, type PolicyModel, type ValueModel } from '../models/index.ts';
import { type MicroBatchOptions, microBatches } from './micro-batches.ts';
import { packSequences } from './pack-sequences.ts';
import { stateRows } from './response-rows.ts';

interface Suspects {
  readonly batch: Experience;
  readonly config: Pick<PPOConfig, 'temperature'> & MicroBatchOptions;
  readonly policy: PolicyModel;
  readonly value?: ValueModel | undefined;
}

/** Refuses an optimiser step whose losses or gradients are not finite, and says which op began it. */
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
    `Cannot make an optimiser step: ${bad[0]} must be finite, got ${bad[1]}; ${source}; lower the learning rate or look at the rewards`,
  );
}

/** The first number of the experience that is not finite. */
function findColumn({ sequences: _, ...columns }: Experience): string | undefined {
  for (const [name, column] of Object.entries(columns)) {
    const place = column.findIndex((number: number) => !Number.isFinite(number));
    if (place >= 0) return `the experience's ${name} hold ${column[place]} at ${place}`;
  }
  return undefined;
}

/** Runs both models again, looking at every value. */
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
  return 'no forward pass makes it, so it comes from the gradients';
}

async function runChecked(
  role: PolicyModel | ValueModel,
  part: Experience,
  temperature: number,
): Promise<void> {
  const { base, adapter } = role;
  const { architecture } = base;
  const batch = packSequences(part);
  const { form, feeds } = batch.plan(architecture.config);
  const graph = layerGraph(architecture, { lora: adapter?.config, ...form });
  const layer = await compile(graph, { checkNumerics: true });
  const isScalar = 'head' in role;
  const head = await compile((isScalar ? scalarGraph : logprobsGraph)(architecture), {
    checkNumerics: true,
  });
  try {
    let x = base.embed(batch);
    for (let index = 0; index < architecture.config.num_hidden_layers; index++) {
      const outputs = await layer.run(base.layerFeeds(layer, { ...feeds, x }, { index, adapter }));
      x = outputs.y as Tensor<'float32'>;
    }
    const stepOffsets = isScalar ? part.stepOffsets : part.offsets;
    const rows = stateRows(batch, { sequences: part.sequences, stepOffsets });
    await head.run(
      base.headFeeds(head, {
        x: takeRows(x, rows),
        ...(isScalar
          ? { 'score.weight': role.head }
          : {
              tokens: tensor(part.tokens, [part.tokens.length]),
              temperature: tensor(Float32Array.of(temperature), []),
            }),
      }),
    );
  } finally {
    await layer.dispose();
    await head.dispose();
  }
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
