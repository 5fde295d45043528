import { HubClient, type HubFile } from '../base-setup/hub/hub-client.ts';
import type { HubSettings } from '../base-setup/hub/hub-settings.ts';
import { isCommit } from '../base-setup/hub/model-id.ts';
import type { DatasetId } from './dataset-id.ts';

/** The hub's answers about one dataset. */
export class DatasetClient extends HubClient {
  private readonly dataset: DatasetId;
  private readonly hub: HubSettings;

  constructor(hub: HubSettings, dataset: DatasetId) {
    const { id, revision } = dataset;
    // As the hub's addresses have it: with this in front, files and pages are those of a dataset.
    super(hub, { id: `datasets/${id}`, revision });
    this.hub = hub;
    this.dataset = dataset;
  }

  /** The commit that the revision means now. */
  async findDatasetCommit(): Promise<string> {
    const { id: name, revision } = this.dataset;
    const { endpoint: hubUrl } = this.hub;
    const { datasetInfo, HubApiError } = await import('@huggingface/hub');
    try {
      const additionalFields: 'sha'[] = ['sha'];
      const fetch = this.authorizedFetch;
      const { sha } = await datasetInfo({ name, revision, hubUrl, additionalFields, fetch });
      if (isCommit(sha)) return sha;
      throw this.notUnderstood('a commit hash', sha);
    } catch (cause) {
      if (!(cause instanceof HubApiError) || cause.statusCode !== 404) throw this.explain(cause);
      throw new Error(
        `Cannot find ${name}: it must be a file, or a dataset on ${hubUrl} with a revision "${revision}", got neither`,
        { cause },
      );
    }
  }

  /** All files of a commit, those in folders too. */
  async listDatasetFiles(commit: string): Promise<HubFile[]> {
    const { endpoint: hubUrl } = this.hub;
    const repo = { type: 'dataset', name: this.dataset.id } as const;
    const { listFiles } = await import('@huggingface/hub');
    const fetch = this.authorizedFetch;
    const files: HubFile[] = [];
    try {
      const entries = listFiles({ repo, revision: commit, recursive: true, hubUrl, fetch });
      for await (const { type, path: name, size, oid, lfs } of entries) {
        if (type !== 'file') continue;
        files.push({ name, size: lfs?.size ?? size, hash: lfs?.oid ?? oid ?? '' });
      }
    } catch (cause) {
      throw this.explain(cause);
    }
    // Both become names in the cache.
    const wrong = files.find(({ name, hash }) => !isSafe(name) || !isHash(hash));
    if (wrong !== undefined) throw this.notUnderstood('names and hashes of files', wrong.name);
    return files;
  }

  private notUnderstood(wanted: string, got: string): Error {
    return new Error(
      `Cannot download ${this.dataset.id}: ${this.hub.endpoint} must give ${wanted}, got "${got}"; check HF_ENDPOINT`,
    );
  }

  /** The library takes only tokens that start with `hf_`; `fetch` drops ours on the way to another host. */
  private readonly authorizedFetch = (input: string | URL | Request, init: RequestInit = {}) => {
    const { endpoint, token, timeoutMs } = this.hub;
    const headers = new Headers(init.headers);
    headers.set('user-agent', 'proximal');
    const url = new URL(input instanceof Request ? input.url : input);
    if (token !== undefined && url.origin === new URL(endpoint).origin) {
      headers.set('authorization', `Bearer ${token}`);
    }
    return fetch(input, { signal: AbortSignal.timeout(timeoutMs), ...init, headers });
  };
}

function isSafe(name: string): boolean {
  return name.split('/').every((part) => !/^\.{0,2}$|\\/.test(part));
}

function isHash(hash: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash);
}
