import { input, makeGraph, neg } from '../graph/index.ts';
import type { Backend } from './backend.ts';
import { compile } from './compile.ts';
import { backendOf } from './devices.ts';
import { tensor } from './tensor.ts';
import { threadCount } from './thread-count.ts';

/** A device of this machine, and whether graphs run on it. */
export interface DeviceReport {
  readonly device: 'cpu' | 'webgpu';
  readonly isUsable: boolean;
  /** What it is, or why it cannot be used. */
  readonly detail: string;
}

/** Lists the devices of this machine, each tried with a small graph. */
export async function findDevices(): Promise<DeviceReport[]> {
  const threads = threadCount();
  const cpu = `${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  const reason = await tryDevice(backendOf('webgpu'));
  return [
    { device: 'cpu', isUsable: true, detail: cpu },
    {
      device: 'webgpu',
      isUsable: reason === undefined,
      detail: reason ?? "the driver's first adapter",
    },
  ];
}

/** Requires that graphs run on a device. */
export async function expectDevice(backend: Backend): Promise<void> {
  if (backend.device === 'cpu') return;
  const reason = await tryDevice(backend);
  if (reason === undefined) return;
  throw new Error(
    `Cannot use device ${backend.device}: it needs a GPU with a Vulkan, Metal or Direct3D 12 driver, got "${reason}"; use device cpu`,
  );
}

/** Runs a graph; returns why that failed. */
async function tryDevice(device: Backend): Promise<string | undefined> {
  try {
    const compiled = await compile(makeGraph({ y: neg(input('x', ['M'])) }), { device });
    const { y } = await compiled.run({ x: tensor(Float32Array.of(1, 2), [2]) });
    await compiled.dispose();
    return y!.data[1] === -2 ? undefined : `wrong results, ${y!.data[1]} for -2`;
  } catch (error) {
    const { message } = ((error as Error).cause as Error | undefined) ?? (error as Error);
    // ONNX Runtime puts its source file and function before the reason.
    return message
      .trim()
      .split('\n')[0]!
      .replace(/^.*was false\. /, '');
  }
}
