import { statIfExists } from '../../../fs/index.ts';
import { readJson } from './read-state.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A file with one JSON object, which is read again only where it has changed: then, and only then,
 *  the object is another one. */
export class JsonFile {
  private readonly path: string;
  private seen: string | undefined;
  private object: JsonObject | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** As of the last reading. */
  get value(): JsonObject | undefined {
    return this.object;
  }

  /** The object; undefined where there is no file, and empty where it holds something else. */
  async read(): Promise<JsonObject | undefined> {
    const stats = await statIfExists(this.path);
    const seen = stats && `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    if (seen === undefined || seen !== this.seen) this.object = await readJson(this.path);
    this.seen = seen;
    return this.object;
  }
}
