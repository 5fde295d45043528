import type { MessagePlace } from './messages.ts';
import { WorkerHost } from './worker-host.ts';

// The script of a worker.
new WorkerHost(globalThis as unknown as MessagePlace);
