import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { resolveModelConfig } from '../../src/config/model-config.ts';
import { freshArchitecture } from '../../src/models/decoder/create-model.ts';
import { createModel, saveModel } from '../../src/models/index.ts';
import { writeTinyTokenizer } from './tiny-tokenizer.ts';

const words = 'the a cat dog sees likes and runs'.split(' ');

/** Creates a folder with a tiny model, twelve prompts, a reward and `train.yaml`. It is removed after
 *  the file's tests. Six steps take about a second. */
export async function makeTrainFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-train-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const config = resolveModelConfig({
    ...{ vocabSize: 11, hiddenSize: 32, numAttentionHeads: 4, numLayers: 2 },
    maxPositionEmbeddings: 40,
  });
  const fields = { eos_token_id: 1, pad_token_id: 0 };
  await saveModel(join(folder, 'model'), createModel(freshArchitecture(config), 7), {
    config: fields,
  });
  writeTinyTokenizer(join(folder, 'model'));
  const prompts = words.flatMap((word, i) => [word, `${word} ${words[(i + 3) % 8]}`]).slice(0, 12);
  write('prompts.jsonl', prompts.map((prompt) => JSON.stringify({ prompt })).join('\n'));
  write('reward.ts', 'export default (s: { response: string }) => s.response.split("cat").length;');
  write(
    'train.yaml',
    `modelName: model
prompts: prompts.jsonl
reward: reward.ts
maxNewTokens: 6
learningRate: 1e-3
batchSize: 4
numEpochs: 2
evalInterval: 2
saveInterval: 2
`,
  );
  return folder;
}
