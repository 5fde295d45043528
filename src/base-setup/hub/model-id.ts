/** What Python's huggingface_hub accepts: `name` or `owner/name` of letters, digits, `-`, `_` and `.`. */
const modelId = /^(\b[\w\-.]+\b\/)?\b[\w\-.]{1,96}\b$/;

/** Refuses an id that the hub cannot have, or that could lead out of the cache. */
export function checkModelId(id: string): void {
  if (!modelId.test(id) || /--|\.\./.test(id) || id.endsWith('.git')) {
    throw new TypeError(
      `Cannot find model "${id}": it must be a folder that exists or a hub id such as "Qwen/Qwen3-0.6B"`,
    );
  }
}

/** Refuses a revision that could lead out of the cache. */
export function checkRevision(revision: string): void {
  if (!/^[\w\-.+/]+$/.test(revision) || /\.\.|^\/|\/$|\/\//.test(revision)) {
    throw new TypeError(
      `Cannot find revision "${revision}": it must be a branch, a tag or a commit, such as "main"`,
    );
  }
}

/** Whether a revision is a whole commit hash, which always means the same files. */
export function isCommit(revision: string): boolean {
  return /^[0-9a-f]{40}$/.test(revision);
}
