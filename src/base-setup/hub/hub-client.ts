import { explainHubFailure, explainStatus, type HubRequest } from './hub-error.ts';
import { type HubSettings, isCommit } from './hub-settings.ts';

/** A file of a commit. */
export interface HubFile {
  readonly name: string;
  readonly size: number;
  /** The hash that names the blob: SHA-256 of a large file, git's SHA-1 of a small one. */
  readonly hash: string;
}

/** Requests to the hub about one model. */
export class HubClient {
  private readonly settings: HubSettings;
  private readonly request: HubRequest;

  constructor(settings: HubSettings, { id, revision }: { id: string; revision: string }) {
    const { endpoint, token, timeout } = settings;
    this.settings = settings;
    this.request = { endpoint, id, revision, timeout, authorized: token !== undefined };
  }

  /** The current commit of the revision and the names of its files. */
  async findCommit(): Promise<{ commit: string; names: readonly string[] }> {
    const { id, revision, endpoint } = this.request;
    const { modelInfo } = await import('@huggingface/hub');
    const info = await this.send(() =>
      modelInfo({
        name: id,
        revision,
        hubUrl: endpoint,
        additionalFields: ['sha', 'filePaths'],
        fetch: this.fetch,
      }),
    );
    if (!isCommit(info.sha)) throw this.unexpectedAnswer('a commit hash', info.sha);
    return { commit: info.sha, names: info.filePaths };
  }

  /** Size and hash of each file of a commit that is in `names`. */
  async listFiles(commit: string, names: readonly string[]): Promise<HubFile[]> {
    const { id, endpoint } = this.request;
    const { listFiles } = await import('@huggingface/hub');
    const files = new Map<string, HubFile>();
    await this.send(async () => {
      const options = { repo: id, revision: commit, hubUrl: endpoint, fetch: this.fetch };
      for await (const { path: name, size, oid, lfs } of listFiles(options)) {
        files.set(name, { name, size: lfs?.size ?? size, hash: lfs?.oid ?? oid ?? '' });
      }
    });
    return names.map((name) => {
      const file = files.get(name);
      if (file === undefined) throw this.unexpectedAnswer(`an entry for ${name}`, 'none');
      const { hash } = file;
      // The hash becomes a file name.
      if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash)) {
        throw this.unexpectedAnswer(`a hash of ${name}`, hash);
      }
      return file;
    });
  }

  /** Requests the bytes of a file from `start`; the response may begin at 0 instead. */
  async openFile(
    name: string,
    { commit, start, signal }: { commit: string; start: number; signal: AbortSignal },
  ): Promise<Response> {
    const { id, endpoint } = this.request;
    // A partial file can only be continued with uncompressed bytes.
    const headers = { 'accept-encoding': 'identity', range: `bytes=${start}-` };
    const response = await this.fetch(`${endpoint}/${id}/resolve/${commit}/${name}`, {
      headers: start > 0 ? headers : { 'accept-encoding': headers['accept-encoding'] },
      signal,
    });
    if (response.ok || response.status === 416) return response;
    await response.body?.cancel();
    throw explainStatus(response.status, this.request);
  }

  /** Explains an error that a request threw. */
  explain(error: unknown): unknown {
    return explainHubFailure(error, this.request);
  }

  private async send<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      throw this.explain(error);
    }
  }

  private unexpectedAnswer(expected: string, got: string): Error {
    const { endpoint, id } = this.request;
    return new Error(
      `Cannot download ${id}: ${endpoint} must return ${expected}, got "${got}"; check HF_ENDPOINT`,
    );
  }

  /** Adds the token, because the library accepts only tokens that start with `hf_`. It is never sent
   *  to another host: `fetch` drops it on a redirect. */
  protected readonly fetch = (input: string | URL | Request, init: RequestInit = {}) => {
    const { endpoint, token, timeout } = this.settings;
    const headers = new Headers(init.headers);
    const url = new URL(input instanceof Request ? input.url : input);
    headers.set('user-agent', 'proximal');
    if (token !== undefined && url.origin === new URL(endpoint).origin) {
      headers.set('authorization', `Bearer ${token}`);
    }
    return fetch(input, {
      signal: AbortSignal.timeout(Math.ceil(1000 * timeout)),
      ...init,
      headers,
    });
  };
}
