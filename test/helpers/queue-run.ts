import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { endOf, startCli } from './run-cli.ts';
import { makeTempFolder } from './runtime-temp-folder.ts';

/** Settings of a short run with two shards and two micro-batches per step. */
const shared = {
  ...{ modelName: embeddedFolder, reward: ['brevity:target=10'], seed: 3 },
  ...{ maxSteps: 3, batchSize: 4, ppoEpochs: 2, maxNewTokens: 10, loraR: 4 },
  ...{ microBatchSize: 2, rolloutShardSize: 2, logSamples: 4, logTokens: 2 },
};

/** The kinds of run that must not depend on where their jobs run. */
export const queueConfigs = {
  'PPO with values': {},
  'GRPO with 4 samples': { advantageEstimator: 'grpo', samplesPerPrompt: 4, microBatchSize: 4 },
  'int8 rollouts': { rolloutPrecision: 'int8' },
} as const;

/** Writes the config and prompts of a run; returns the path of the config. */
export function writeQueueConfig(options: object = {}): string {
  const folder = makeTempFolder();
  const prompts = ['my dog is sick', 'the car is broken', 'we met in the city', 'a new job'];
  writeFileSync(join(folder, 'prompts.txt'), prompts.join('\n'));
  const config = { prompts: join(folder, 'prompts.txt'), ...shared, ...options };
  const path = join(folder, 'train.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** A worker in its own process, with everything that it prints. */
export class TestWorker {
  readonly child: ReturnType<typeof startCli>;
  readonly ended: ReturnType<typeof endOf>;
  private text = '';

  constructor(url: string, ...flags: readonly string[]) {
    this.child = startCli('worker', '--queue', url, ...flags);
    this.child.stdout.on('data', (part: Buffer) => {
      this.text += part.toString();
    });
    this.ended = endOf(this.child);
  }

  get output(): string {
    return this.text;
  }

  async kill(signal: NodeJS.Signals = 'SIGTERM') {
    this.child.kill(signal);
    return this.ended;
  }
}
