import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadModel, loadRewardModel } from '../../../src/models/index.ts';
import { rewardRun } from '../../../src/run/reward-run.ts';
import { writeByteLevelModel } from '../../../test/helpers/byte-level-model.ts';

/** Trains a tiny reward model in a folder and prints its scores, not normalised, as JSON. */
async function writeReward(folder: string): Promise<void> {
  const [base, data] = [join(folder, 'base'), join(folder, 'pairs.jsonl')];
  await writeByteLevelModel(base);
  const rows = Array.from({ length: 24 }, (_, i) => ({
    prompt: `Question ${i}? `,
    chosen: `yes${'!'.repeat(i % 5)}`,
    rejected: `no${'.'.repeat(i % 3)}`,
  }));
  writeFileSync(data, rows.map((row) => JSON.stringify(row)).join('\n'));
  const { modelFolder } = await rewardRun({
    ...{ modelName: base, data, output: join(folder, 'run') },
    ...{ numEpochs: 4, batchSize: 8, learningRate: 3e-3 },
  });
  const loaded = await loadModel(base);
  const model = await loadRewardModel(modelFolder!, loaded);
  model.normalization = { mean: 0, std: 1 };
  const sequences = rows.flatMap(({ prompt, chosen, rejected }) =>
    [chosen, rejected].map((text) => loaded.tokenizer.encode(prompt + text)),
  );
  const scores = Array.from(await model.forward(sequences));
  const about = { base, model: modelFolder, scores, sequences: sequences.map((s) => [...s]) };
  process.stdout.write(JSON.stringify(about));
}

await writeReward(process.argv[2]!);
