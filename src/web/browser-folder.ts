/** A folder of the origin's private file system, as far as it is used here. */
interface DirectoryHandle {
  getDirectoryHandle(name: string, options: { create: boolean }): Promise<DirectoryHandle>;
  getFileHandle(name: string, options: { create: boolean }): Promise<FileHandle>;
  removeEntry(name: string): Promise<void>;
}

interface FileHandle {
  getFile(): Promise<Blob>;
  createWritable(): Promise<{ write(data: Uint8Array): Promise<void>; close(): Promise<void> }>;
}

interface StorageNavigator {
  readonly storage?: {
    getDirectory?(): Promise<DirectoryHandle>;
    estimate?(): Promise<{ readonly quota?: number; readonly usage?: number }>;
  };
}

const page = globalThis as unknown as { readonly navigator: StorageNavigator };

/** A folder in the browser's own storage (OPFS), which only this site can read. A file is replaced
 *  completely or not at all.
 *  @example
 *  const folder = new BrowserFolder('adapters/short');
 *  await folder.write(await trainer.adapter());
 *  const files = await folder.read(['adapter_config.json', 'adapter_model.safetensors']); */
export class BrowserFolder {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Writes files, one after the other. */
  async write(files: Readonly<Record<string, Uint8Array>>): Promise<void> {
    const bytes = Object.values(files).reduce((sum, { byteLength }) => sum + byteLength, 0);
    try {
      const folder = await this.open();
      for (const [name, content] of Object.entries(files)) {
        const file = await folder.getFileHandle(name, { create: true });
        const stream = await file.createWritable();
        await stream.write(content);
        await stream.close();
      }
    } catch (cause) {
      throw await explain(cause, { path: this.path, bytes });
    }
  }

  /** Reads files; undefined if one of them is missing. */
  async read<Name extends string>(
    names: readonly Name[],
  ): Promise<Record<Name, Uint8Array> | undefined> {
    const files: Partial<Record<Name, Uint8Array>> = {};
    try {
      const folder = await this.open();
      for (const name of names) {
        const file = await (await folder.getFileHandle(name, { create: false })).getFile();
        files[name] = new Uint8Array(await file.arrayBuffer());
      }
      return files as Record<Name, Uint8Array>;
    } catch (error) {
      if (nameOf(error) === 'NotFoundError') return undefined;
      throw error;
    }
  }

  /** Removes files that exist. */
  async remove(names: readonly string[]): Promise<void> {
    const folder = await this.open();
    for (const name of names) {
      await folder.removeEntry(name).catch((error: unknown) => {
        if (nameOf(error) !== 'NotFoundError') throw error;
      });
    }
  }

  private async open(): Promise<DirectoryHandle> {
    const { storage } = page.navigator;
    if (storage?.getDirectory === undefined) {
      throw new Error(
        'Cannot store files in the browser: the page must be opened by https or from localhost, got neither',
      );
    }
    let folder = await storage.getDirectory();
    for (const part of this.path.split('/')) {
      folder = await folder.getDirectoryHandle(part, { create: true });
    }
    return folder;
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : '';
}

/** Says what to do if the storage is full; other errors are unchanged. */
async function explain(
  cause: unknown,
  { path, bytes }: { readonly path: string; readonly bytes: number },
): Promise<unknown> {
  if (nameOf(cause) !== 'QuotaExceededError') return cause;
  const { storage } = page.navigator;
  const { quota = 0, usage = 0 } = (await storage?.estimate?.()) ?? {};
  const show = (size: number) => `${(size / 1e6).toFixed(1)} MB`;
  return new Error(
    `Cannot save ${path} in the browser: it needs ${show(bytes)}, got ${show(Math.max(0, quota - usage))} of free storage; free some in the browser's settings, or download the files instead`,
    { cause },
  );
}
