import type { MessagePlace } from './messages.ts';
import { WorkerHost } from './worker-host.ts';

// The script of a worker: `new Worker(new URL('proximal/web/worker', import.meta.url), { type: 'module' })`.
new WorkerHost(globalThis as unknown as MessagePlace);
