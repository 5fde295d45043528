import { basename, join } from 'node:path';
import { readAdapter } from '../base-setup/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { threadCount } from '../engine/runtime/index.ts';
import type { LoadedModel } from '../models/index.ts';
import { hashBytes } from './blob.ts';
import { failedJobName } from './failed-job.ts';
import { describeMachine } from './machine.ts';
import { PROTOCOL } from './protocol.ts';
import { QueueClient } from './queue-client.ts';
import { encodeRole } from './role-blob.ts';

export interface ConnectOptions {
  readonly url: string;
  readonly config: PPOConfig;
  readonly model: LoadedModel;
  /** The run's folder and when it started: what identifies it when it is resumed. */
  readonly folder: string;
  readonly startedAt: string;
  readonly warn: (message: string) => void;
}

/** Announces a run to workers, with everything that its jobs share. */
export async function connectQueue(options: ConnectOptions): Promise<QueueClient> {
  const { url, config, model, folder, startedAt, warn } = options;
  const { base } = model;
  const initial =
    config.adapter === undefined ? undefined : await readAdapter(config.adapter, base);
  return QueueClient.connect({
    ...{ url, warn, name: basename(folder), failedFolder: join(folder, failedJobName) },
    run: hashBytes(JSON.stringify([folder, startedAt])).slice(0, 16),
    reference: initial && encodeRole(initial),
    setup: {
      protocol: PROTOCOL,
      machine: { ...describeMachine(), threads: threadCount() },
      model: {
        name: config.modelName,
        revision: config.revision,
        precision: base.precision,
        fingerprint: base.fingerprint(),
      },
      config,
    },
  });
}
