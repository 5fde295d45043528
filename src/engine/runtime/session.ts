import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { InferenceSession } from 'onnxruntime-node';
import type { LoweredGraph } from '../onnx/lower.ts';

/** Where graphs run. `webgpu` and `cuda` need an ONNX Runtime build that supports them. */
export type Device = 'cpu' | 'webgpu' | 'cuda';

export interface SessionOptions {
  readonly device?: Device;
  /** Threads inside one op; `threadCount()` by default. */
  readonly threads?: number;
  /** Keep the memory of a run for the next one, which is faster for large values, instead of freeing it;
   *  false by default. */
  readonly arena?: boolean;
}

interface CachedSession {
  readonly session: Promise<InferenceSession>;
  users: number;
}

const sessions = new Map<string, CachedSession>();
const bufferIds = new WeakMap<ArrayBufferLike, number>();
let nextBufferId = 0;

export interface SessionLease {
  readonly session: InferenceSession;
  /** Releases the session; the call of the last user frees it. */
  release(): Promise<void>;
}

/** Returns the session of a lowered graph; graphs of equal structure share one. */
export async function leaseSession(
  lowered: LoweredGraph,
  options: SessionOptions,
): Promise<SessionLease> {
  const key = sessionKey(lowered, options);
  const cached = sessions.get(key) ?? { session: createSession(lowered, options), users: 0 };
  sessions.set(key, cached);
  cached.users++;
  const release = async () => {
    if (--cached.users > 0) return;
    sessions.delete(key);
    await (await cached.session).release();
  };
  try {
    return { session: await cached.session, release };
  } catch (error) {
    sessions.delete(key);
    throw error;
  }
}

/** Number of open sessions. */
export function countSessions(): number {
  return sessions.size;
}

/** What each device other than the CPU needs. */
const requirements: Readonly<Record<string, string>> = {
  webgpu: 'a GPU with a Vulkan, Metal or Direct3D 12 driver',
  cuda: "Linux on x64 with CUDA 12 and ONNX Runtime's CUDA files (node node_modules/onnxruntime-node/script/install.js --onnxruntime-node-install=cuda12)",
};

/** Threads inside one op: the environment's PROXIMAL_THREADS, or one per core. Results of another number
 *  may differ in their last bits. */
export function threadCount(): number {
  const set = Number(process.env.PROXIMAL_THREADS);
  return Number.isInteger(set) && set > 0 ? set : availableParallelism();
}

function createSession(
  { bytes, externalData, externalFolder }: LoweredGraph,
  { device = 'cpu', threads = threadCount(), arena = false }: SessionOptions,
): Promise<InferenceSession> {
  const session = InferenceSession.create(bytes, {
    executionProviders: [device],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    enableCpuMemArena: arena,
    // Errors are thrown; only fatal ones are also printed.
    logSeverityLevel: 4,
    externalData: [...externalData].map(([path, data]) => ({ path, data })),
    extra: {
      session: {
        // Threads spin during a run and release the cores after it (docs/decisions/0002).
        intra_op: { allow_spinning: '1' },
        force_spinning_stop: '1',
        ...(externalFolder && { model_external_initializers_file_folder_path: externalFolder }),
      },
    },
  });
  return device === 'cpu' ? session : session.catch((error) => throwDeviceError(device, error));
}

function throwDeviceError(device: string, error: Error): never {
  const requirement = requirements[device];
  const remedy = requirement ? `it needs ${requirement}; without it` : 'there is no such device;';
  throw new Error(
    `Cannot compile for device "${device}": ${remedy} use "cpu" (${error.message.trim()})`,
    { cause: error },
  );
}

/** A hash of structure, options and identity of constants in memory; sessions with equal keys are interchangeable. */
function sessionKey(lowered: LoweredGraph, options: SessionOptions): string {
  const hash = createHash('sha256').update(lowered.bytes).update(JSON.stringify(options));
  hash.update(lowered.externalFolder ?? '');
  for (const [location, data] of lowered.externalData) {
    hash.update(`${location}:${bufferId(data.buffer)}:${data.byteOffset}:${data.byteLength};`);
  }
  return hash.digest('hex');
}

function bufferId(buffer: ArrayBufferLike): number {
  const id = bufferIds.get(buffer) ?? nextBufferId++;
  bufferIds.set(buffer, id);
  return id;
}
