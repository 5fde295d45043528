import type { Hono } from 'hono';
import type { DashboardEvent } from '../api.ts';
import { labelRoutes } from '../labels/label-routes.ts';
import { LabelStore } from '../labels/label-store.ts';
import type { RunLibrary } from './runs/run-library.ts';

export interface OpenLabelsOptions {
  readonly library: RunLibrary;
  readonly publish: (event: DashboardEvent) => void;
  readonly onError: (error: unknown) => void;
}

export interface Labels {
  readonly routes: Hono;
  /** Tells every page how far the queues are. */
  tell(): void;
}

/** What people label, in a folder. New queues may take files from where the command was given and
 *  from the folders of runs: the page must not read all that this user can. */
export function openLabels(
  folder: string,
  { library, publish, onError }: OpenLabelsOptions,
): Labels {
  const roots = [process.cwd(), ...library.folders];
  const store = new LabelStore({ folder, roots, runs: () => library.all() });
  const tell = () => {
    store.list().then((queues) => publish({ type: 'labels', queues }), onError);
  };
  store.onChange(tell);
  const routes = labelRoutes({ store, onFilling: (queue) => publish({ type: 'filling', queue }) });
  return { routes, tell };
}
