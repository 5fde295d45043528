import { realpathSync } from 'node:fs';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import type { Backend, BackendRuntime } from '../backend.ts';
import { explainDeviceError } from './device-error.ts';
import { wrapSession } from './ort-session.ts';

// Errors are thrown; only fatal ones are also printed.
env.logLevel = 'fatal';

/** ONNX Runtime's native build, for the processor or a GPU. */
export function nodeRuntime(backend: Backend): BackendRuntime {
  const { device } = backend;
  return {
    resolveFile: (file) => realpathSync(file),
    async createSession({ bytes, externalData, externalFolder }, settings) {
      const { threads, arena, keep, profile } = settings;
      const created = InferenceSession.create(bytes, {
        executionProviders: [device],
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        enableCpuMemArena: arena,
        logSeverityLevel: 4,
        externalData: [...externalData].map(([path, data]) => ({ path, data })),
        ...(keep.length > 0 && { preferredOutputLocation: locations(keep) }),
        ...(profile !== undefined && { enableProfiling: true, profileFilePrefix: profile }),
        extra: {
          session: {
            // Threads spin during a run and release the cores after it (docs/decisions/0002).
            intra_op: { allow_spinning: '1' },
            force_spinning_stop: '1',
            ...(externalFolder && { model_external_initializers_file_folder_path: externalFolder }),
          },
        },
      });
      const session = await created.catch((error: Error) => {
        throw device === 'cpu' ? error : explainDeviceError(device, error);
      });
      return wrapSession({ backend, session, Tensor });
    },
  };
}

function locations(keep: readonly string[]): Record<string, 'gpu-buffer'> {
  return Object.fromEntries(keep.map((name) => [name, 'gpu-buffer']));
}
