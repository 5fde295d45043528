import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedPreferences } from '../../src/embedded/embedded-files.ts';

/** A kind of run that attacks disturb. */
export interface RunKind {
  readonly name: string;
  readonly command: 'train' | 'sft' | 'reward';
  /** Path of its config. */
  readonly config: string;
  /** Folder of its runs; that of the arena by default. */
  readonly place?: string;
}

/** The kinds by what runs need besides their own process. */
export interface RunKinds {
  /** Nothing, or a reward server. */
  readonly alone: readonly RunKind[];
  /** People who score responses. */
  readonly people: RunKind;
  /** Workers that run jobs. The undisturbed twins run them themselves. */
  readonly workers: readonly RunKind[];
}

/** What the kinds refer to. */
interface RunSetting {
  /** Folder of the base model. */
  readonly model: string;
  /** Address of a server that scores responses. */
  readonly rewardUrl: string;
  /** Folder of runs whose responses people score. */
  readonly peopleFolder: string;
}

/** Four steps with few tokens: one run takes a second or two. */
const shared = {
  ...{ seed: 3, loraR: 4, maxSteps: 4, learningRate: 1e-3 },
  ...{ evalInterval: 2, saveInterval: 1, validationFraction: 0.25 },
};

const ppo = {
  ...shared,
  ...{ prompts: 'prompts.txt', reward: ['brevity:target=3'], batchSize: 4, ppoEpochs: 2 },
  ...{ maxNewTokens: 8, logSamples: 4, logTokens: 2, evalBestOf: 2 },
};

const grpo = { advantageEstimator: 'grpo', samplesPerPrompt: 4, batchSize: 2 };
const int8Rollouts = { rolloutPrecision: 'int8' };

const ppoKinds = {
  ...{ ppo: {}, grpo, 'int8-rollouts': int8Rollouts },
  'adaptive-kl': { klController: 'adaptive', klTarget: 0.5, scoreNormalization: 'running' },
  'int8-base': { basePrecision: 'int8' },
  'old-responses': { bufferCapacity: 8, miniBatchSize: 4 },
};

const stageKinds = {
  sft: { command: 'sft', config: { ...shared, data: 'demonstrations.jsonl', batchSize: 4 } },
  reward: { command: 'reward', config: { ...shared, data: 'preferences.jsonl', batchSize: 2 } },
} as const;

/** Two shards and two micro-batches per step, so that there are jobs for two workers. */
const jobs = { microBatchSize: 2, rolloutShardSize: 2, evalInterval: 4 };
const workerKinds = {
  'workers-ppo': jobs,
  'workers-grpo': { ...grpo, ...jobs, microBatchSize: 4 },
  'workers-int8-rollouts': { ...int8Rollouts, ...jobs },
};

const prompts = [
  ...['my dog is sick', 'the car is broken', 'we met in the city', 'a new job'],
  ...['she paid for a coat', 'it is raining', 'my brother called', 'I lost my phone'],
];

/** Writes the configs of all kinds and their data into a folder. */
export function writeRunKinds(
  folder: string,
  { model, rewardUrl, peopleFolder }: RunSetting,
): RunKinds {
  mkdirSync(folder, { recursive: true });
  writeData(folder);
  const write = (name: string, command: RunKind['command'], config: object): RunKind => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify({ modelName: model, ...config }));
    return { name, command, config: path };
  };
  const writeAll = (kinds: Readonly<Record<string, object>>) =>
    Object.entries(kinds).map(([name, own]) => write(name, 'train', { ...ppo, ...own }));
  const stages = Object.entries(stageKinds).map(([name, { command, config }]) =>
    write(name, command, config),
  );
  const remote = write('remote-reward', 'train', { ...ppo, reward: [`service=${rewardUrl}`] });
  const people = write('people', 'train', { ...ppo, reward: ['human'], batchSize: 2 });
  return {
    alone: [...writeAll(ppoKinds), remote, ...stages],
    people: { ...people, place: peopleFolder },
    workers: writeAll(workerKinds),
  };
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
