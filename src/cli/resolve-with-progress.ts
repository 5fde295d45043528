import { type ResolveModelOptions, resolveModel } from '../base-setup/hub/index.ts';
import { ProgressLine } from './progress-line.ts';
import { stripControls } from './strip-controls.ts';

/** Finds a model's folder; shows how far it is where the model must be downloaded. */
export async function resolveWithProgress(
  idOrPath: string,
  options: ResolveModelOptions = {},
): Promise<string> {
  const line = new ProgressLine();
  try {
    const folder = await resolveModel(idOrPath, {
      ...options,
      onProgress: ({ file, receivedBytesOfAll, totalBytesOfAll }) =>
        line.update({
          label: stripControls(file),
          receivedBytes: receivedBytesOfAll,
          totalBytes: totalBytesOfAll,
        }),
    });
    line.finish();
    return folder;
  } finally {
    line.clear();
  }
}
