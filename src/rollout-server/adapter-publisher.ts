import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type WriteAdapterOptions, writeAdapter } from '../base-setup/index.ts';
import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { ServerProtocol } from './server-protocol.ts';

export interface PublisherOptions {
  readonly protocol: Pick<ServerProtocol, 'loadAdapter' | 'unloadAdapter'>;
  /** Folder that the server reads too; a temporary one by default. */
  readonly folder?: string | undefined;
  /** What is written with each adapter. */
  readonly about?: WriteAdapterOptions | undefined;
}

interface PublishedAdapter {
  readonly name: string;
  readonly hash: string;
  readonly folder: string;
}

/**
 * Keeps a server's copy of the policy's adapter up to date. Each version has its own folder, which never
 * changes, and its own name: a server may read the folder again at any time while the adapter is loaded.
 */
export class AdapterPublisher {
  private readonly options: PublisherOptions;
  /** Separates the names of runs that share a server. */
  private readonly run = randomBytes(4).toString('hex');
  private root: string | undefined;
  private pushes = 0;
  private current: PublishedAdapter | undefined;
  /** Pushes run one after another. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(options: PublisherOptions) {
    this.options = options;
  }

  /** Name of the adapter that was published last. */
  get name(): string {
    if (this.current === undefined) throw new Error('Internal: no adapter was published');
    return this.current.name;
  }

  /** Pushes the adapter if its weights have changed, and returns its name on the server. */
  publish(adapter: LoraAdapter, signal: AbortSignal): Promise<string> {
    return this.inTurn(async () => {
      const hash = hashAdapter(adapter);
      const old = this.current;
      if (old?.hash === hash) return old.name;
      const name = this.nextName(hash);
      const folder = join(await this.rootFolder(), name);
      try {
        await writeAdapter(folder, adapter, this.options.about);
        await this.options.protocol.loadAdapter(name, folder, { signal });
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
      this.current = { name, hash, folder };
      if (old !== undefined) await this.remove(old, signal);
      return name;
    });
  }

  /** Pushes the current adapter again, because the server does not know it by this name, and returns its
   *  new name. Of several callers with the same name, the first pushes. */
  republish(unknownName: string, signal: AbortSignal): Promise<string> {
    return this.inTurn(async () => {
      const { current } = this;
      if (current === undefined) throw new Error('Internal: no adapter was published');
      if (current.name !== unknownName) return current.name;
      const name = this.nextName(current.hash);
      await this.options.protocol.loadAdapter(name, current.folder, { signal });
      this.current = { ...current, name };
      return name;
    });
  }

  /** Removes the adapter from the server and all folders. A server that is gone has no adapter. */
  dispose(signal: AbortSignal): Promise<void> {
    return this.inTurn(async () => {
      const { current, root } = this;
      this.current = undefined;
      this.root = undefined;
      if (current !== undefined) await this.remove(current, signal).catch(() => undefined);
      if (root !== undefined && this.options.folder === undefined) {
        await rm(root, { recursive: true, force: true });
      }
    });
  }

  private async remove({ name, folder }: PublishedAdapter, signal: AbortSignal): Promise<void> {
    try {
      await this.options.protocol.unloadAdapter(name, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  private nextName(hash: string): string {
    return `proximal-${this.run}-${++this.pushes}-${hash.slice(0, 16)}`;
  }

  private async rootFolder(): Promise<string> {
    const { folder } = this.options;
    this.root ??=
      folder === undefined ? await mkdtemp(join(tmpdir(), 'proximal-rollouts-')) : resolve(folder);
    return this.root;
  }

  private inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.last.then(run, run);
    this.last = turn;
    return turn;
  }
}

/** SHA-256 of an adapter's config and weights. */
function hashAdapter({ config, weights }: LoraAdapter): string {
  const hash = createHash('sha256').update(JSON.stringify(config));
  for (const [name, { data, shape }] of weights) {
    hash.update(JSON.stringify([name, shape]));
    hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  return hash.digest('hex');
}
