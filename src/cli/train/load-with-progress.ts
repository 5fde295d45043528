import { resolve } from 'node:path';
import type { RunConfig } from '../../config/run-config.ts';
import { type LoadedModel, loadModel } from '../../models/index.ts';
import { resolveWithProgress } from '../resolve-with-progress.ts';
import { showStatus } from '../terminal.ts';
import { shorten } from './shorten.ts';

/** Loads a config's model; shows how far a download is. */
export async function loadWithProgress({
  modelName,
  revision,
}: Pick<RunConfig, 'modelName' | 'revision'>): Promise<LoadedModel> {
  const folder = await resolveWithProgress(modelName, revision === undefined ? {} : { revision });
  const hideStatus = showStatus(`Loading ${shorten(modelName)}`);
  const model = await loadModel(folder).finally(hideStatus);
  // What adapters name as their base is the id on the hub, not where this machine caches it.
  return resolve(modelName) === model.folder ? model : { ...model, name: modelName };
}
