import type { Backend, Device } from './backend.ts';
import { NodeBackend } from './backends/node-backend.ts';
import { WebBackend } from './backends/web-backend.ts';

/** The backends that exist once per process. */
const backends: Readonly<Record<Device, Backend>> = {
  cpu: new NodeBackend('cpu'),
  webgpu: new NodeBackend('webgpu'),
  cuda: new NodeBackend('cuda'),
  web: new WebBackend(),
};

/** The backend of a device, or the backend itself. */
export function backendOf(device: Device | Backend): Backend {
  const backend = typeof device === 'string' ? backends[device] : device;
  if (backend !== undefined) return backend;
  const known = Object.keys(backends).join(', ');
  throw new Error(`Cannot compile for device "${device}": it must be one of ${known}`);
}
