import { HubClient, type HubFile } from '../base-setup/hub/hub-client.ts';
import { type HubSettings, isCommit } from '../base-setup/hub/hub-settings.ts';
import type { DatasetId } from './resolve-dataset.ts';

/** Requests to the hub about one dataset. */
export class DatasetClient extends HubClient {
  private readonly dataset: DatasetId;
  private readonly hub: HubSettings;

  constructor(hub: HubSettings, dataset: DatasetId) {
    const { id, revision } = dataset;
    // The hub's URLs of datasets have this prefix.
    super(hub, { id: `datasets/${id}`, revision });
    this.hub = hub;
    this.dataset = dataset;
  }

  /** The current commit of the revision. */
  async findDatasetCommit(): Promise<string> {
    const { id: name, revision } = this.dataset;
    const { endpoint: hubUrl } = this.hub;
    const { datasetInfo, HubApiError } = await import('@huggingface/hub');
    try {
      const additionalFields: 'sha'[] = ['sha'];
      const { fetch } = this;
      const { sha } = await datasetInfo({ name, revision, hubUrl, additionalFields, fetch });
      if (isCommit(sha)) return sha;
      throw this.unexpectedDatasetAnswer('a commit hash', sha);
    } catch (cause) {
      if (!(cause instanceof HubApiError) || cause.statusCode !== 404) throw this.explain(cause);
      throw new Error(
        `Cannot find ${name}: it must be a file, or a dataset on ${hubUrl} with a revision "${revision}", got neither`,
        { cause },
      );
    }
  }

  /** All files of a commit, including those in folders. */
  async listDatasetFiles(commit: string): Promise<HubFile[]> {
    const { endpoint: hubUrl } = this.hub;
    const repo = { type: 'dataset', name: this.dataset.id } as const;
    const { listFiles } = await import('@huggingface/hub');
    const { fetch } = this;
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
    // Both become file names in the cache.
    const invalid = files.find(({ name, hash }) => !isSafe(name) || !isHash(hash));
    if (invalid !== undefined)
      throw this.unexpectedDatasetAnswer('names and hashes of files', invalid.name);
    return files;
  }

  private unexpectedDatasetAnswer(expected: string, got: string): Error {
    return new Error(
      `Cannot download ${this.dataset.id}: ${this.hub.endpoint} must return ${expected}, got "${got}"; check HF_ENDPOINT`,
    );
  }
}

function isSafe(name: string): boolean {
  return name.split('/').every((part) => !/^\.{0,2}$|\\/.test(part));
}

function isHash(hash: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash);
}
