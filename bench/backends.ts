import { fileURLToPath } from 'node:url';
import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { type Graph, input, linear, makeGraph, silu } from '../src/engine/graph/index.ts';
import { lower } from '../src/engine/onnx/lower.ts';
import {
  backendOf,
  compile,
  freeTensors,
  type Tensor,
  tensor,
} from '../src/engine/runtime/index.ts';
import { backward, forward } from '../src/models/decoder/forward.ts';
import { loadBase, readConfig } from '../src/models/decoder/load-model.ts';
import { PackedBatch } from '../src/models/decoder/packed-batch.ts';
import {
  compareDevices,
  compareModels,
  compareUpdate,
  worstOf,
} from '../test/helpers/devices/conformance.ts';
import { ProfiledBackend } from '../test/helpers/devices/profiled-backend.ts';
import { useSwiftShader } from '../test/helpers/devices/swift-shader.ts';
import { median, round, timeAlternately } from './measure.ts';

const embedded = fileURLToPath(new URL('../embedded', import.meta.url));
const SEQUENCES = 8;
const LENGTH = 64;

/**
 * Devices against the processor: the largest error of the conformance run, ops of layers, gradients, heads
 * and decoding that WebGPU leaves to the processor, the time of a forward and backward pass of the
 * embedded model in WebAssembly relative to one native thread, and the speed of a session behind the
 * interface relative to ONNX Runtime called directly. Without SwiftShader, `webgpu` uses the machine's GPU.
 */
export async function benchBackends(): Promise<object> {
  process.env.PROXIMAL_THREADS = '1';
  useSwiftShader();
  const cpuRatio = await measureInterface();
  const timeRatio = await measureWeb();
  return {
    webgpu: await measureWebGpu(),
    web: {
      max_error: await worstOf(compareDevices(backendOf('web'))),
      time_ratio: round(timeRatio, 2),
    },
    cpu_ratio: round(cpuRatio, 3),
  };
}

async function measureWebGpu(): Promise<object> {
  const profiled = new ProfiledBackend();
  await worstOf(compareModels(profiled, ['qwen3-tied', 'gpt2-default']));
  await worstOf(compareUpdate(profiled));
  const fallbacks = profiled.fallbacks();
  profiled.close();
  return {
    max_error: await worstOf(compareDevices(backendOf('webgpu'))),
    cpu_fallbacks: fallbacks.length,
  };
}

/** Time in WebAssembly / time of one native thread, for layers of the embedded model and their gradients. */
async function measureWeb(): Promise<number> {
  const architecture = await readConfig(embedded);
  const sequences = Array.from({ length: SEQUENCES }, (_, i) =>
    Int32Array.from({ length: LENGTH }, (_, t) => (7 * t + i) % architecture.config.vocab_size),
  );
  const runs = (['cpu', 'web'] as const).map(async (device) => {
    const base = await loadBase(embedded, architecture, { device: backendOf(device) });
    return async () => {
      const pass = await forward({ base }, new PackedBatch(sequences), { save: 'matmul' });
      const ones = tensor(new Float32Array(pass.hidden.data.length).fill(1), pass.hidden.shape);
      freeTensors(await backward(pass, ones, () => undefined));
    };
  });
  const [cpu, web] = await Promise.all(runs);
  const times = await timeAlternately({ cpu: cpu!, web: web! }, { rounds: 5, warmup: 1 });
  return median(times.web) / median(times.cpu);
}

/** Time of ONNX Runtime called directly / time through the interface, for a small MLP. */
async function measureInterface(): Promise<number> {
  const graph = smallGraph();
  const feeds = Object.fromEntries(
    Object.entries(graph.inputs).map(([name, { shape }]) => [name, ones(shape as number[])]),
  );
  const compiled = await compile(graph);
  const session = await InferenceSession.create(lower(graph).bytes, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    enableCpuMemArena: false,
  });
  const direct = () => {
    const tensors = Object.entries(feeds).map(([name, { data, shape }]) => [
      name,
      new OrtTensor('float32', data as Float32Array, shape),
    ]);
    return session.run(Object.fromEntries(tensors));
  };
  const times = await timeAlternately(
    { direct, behind: () => compiled.run(feeds) },
    { rounds: 200, warmup: 10 },
  );
  await compiled.dispose();
  await session.release();
  return median(times.direct) / median(times.behind);
}

function smallGraph(): Graph {
  let x = input('x', [256, 512]);
  for (let layer = 0; layer < 4; layer++) x = silu(linear(x, input(`w${layer}`, [512, 512])));
  return makeGraph({ y: x });
}

function ones(shape: readonly number[]): Tensor {
  return tensor(new Float32Array(shape.reduce((a, b) => a * b)).fill(1e-2), shape);
}
