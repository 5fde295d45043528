import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedFolder, embeddedPreferences } from '../../src/embedded/embedded-files.ts';

/** A kind of run that attacks disturb. */
export interface RunKind {
  readonly name: string;
  readonly command: 'train' | 'sft' | 'reward';
  /** Path of its config. */
  readonly config: string;
}

/** Four steps with few tokens over the embedded model: one run takes a few seconds. */
const shared = {
  ...{ modelName: embeddedFolder, seed: 3, loraR: 4, maxSteps: 4 },
  ...{ evalInterval: 2, saveInterval: 1, validationFraction: 0.25 },
};

const ppo = {
  ...shared,
  ...{ prompts: 'prompts.txt', reward: ['brevity:target=10'], batchSize: 4, ppoEpochs: 2 },
  ...{ maxNewTokens: 8, logSamples: 4, logTokens: 2, evalBestOf: 2 },
};

const ppoKinds = {
  ppo: {},
  grpo: { advantageEstimator: 'grpo', samplesPerPrompt: 4, batchSize: 2 },
  'int8-rollouts': { rolloutPrecision: 'int8' },
  'adaptive-kl': { klController: 'adaptive', klTarget: 0.5, scoreNormalization: 'running' },
  'int8-base': { basePrecision: 'int8' },
  'old-responses': { bufferCapacity: 8, miniBatchSize: 4 },
};

const stageKinds = {
  sft: { command: 'sft', config: { ...shared, data: 'demonstrations.jsonl', batchSize: 4 } },
  reward: { command: 'reward', config: { ...shared, data: 'preferences.jsonl', batchSize: 2 } },
} as const;

const prompts = [
  ...['my dog is sick', 'the car is broken', 'we met in the city', 'a new job'],
  ...['she paid for a coat', 'it is raining', 'my brother called', 'I lost my phone'],
];

/** Writes the configs of all kinds and their data into a folder.
 *  @param rewardUrl address of a server that scores responses */
export function writeRunKinds(folder: string, rewardUrl: string): readonly RunKind[] {
  mkdirSync(folder, { recursive: true });
  writeData(folder);
  const write = (name: string, command: RunKind['command'], config: object) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(config));
    return { name, command, config: path };
  };
  return [
    ...Object.entries(ppoKinds).map(([name, own]) => write(name, 'train', { ...ppo, ...own })),
    write('remote-reward', 'train', { ...ppo, reward: [`service=${rewardUrl}`] }),
    ...Object.entries(stageKinds).map(([name, { command, config }]) =>
      write(name, command, config),
    ),
  ];
}

function writeData(folder: string): void {
  writeFileSync(join(folder, 'prompts.txt'), prompts.join('\n'));
  const lines = readFileSync(embeddedPreferences, 'utf8').split('\n').slice(0, 24);
  writeFileSync(join(folder, 'preferences.jsonl'), `${lines.join('\n')}\n`);
  const demonstrations = lines.map((line) => {
    const { prompt, chosen } = JSON.parse(line) as { prompt: string; chosen: string };
    return `${JSON.stringify({ prompt, completion: chosen })}\n`;
  });
  writeFileSync(join(folder, 'demonstrations.jsonl'), demonstrations.join(''));
}
