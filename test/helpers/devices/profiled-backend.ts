import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeRuntime } from '../../../src/engine/runtime/backends/node-runtime.ts';
import type { Backend, BackendRuntime } from '../../../src/engine/runtime/index.ts';

interface ProfileEvent {
  readonly cat?: string;
  readonly args?: {
    readonly provider?: string;
    readonly op_name?: string;
    readonly output_type_shape?: readonly Readonly<Record<string, readonly number[]>>[];
  };
}

/** WebGPU with ONNX Runtime's profiler, which records where each node ran. */
export class ProfiledBackend implements Backend {
  readonly device = 'webgpu';
  readonly target = 'webgpu';
  readonly keepsTensors = true;
  private readonly folder = mkdtempSync(join(tmpdir(), 'proximal-profile-'));
  private runtime: Promise<BackendRuntime> | undefined;
  private sessions = 0;

  open(): Promise<BackendRuntime> {
    const runtime = nodeRuntime(this);
    this.runtime ??= Promise.resolve({
      ...runtime,
      createSession: (model, settings) =>
        runtime.createSession(model, { ...settings, profile: this.nextFile() }),
    });
    return this.runtime;
  }

  /** Ops of sessions that were released, each with the number of its runs per provider: those that compute
   *  floating-point tensors of more than one number. Sizes and shapes are always computed on the CPU. */
  floatOps(): ReadonlyMap<string, Readonly<Record<string, number>>> {
    const ops = new Map<string, Record<string, number>>();
    for (const file of readdirSync(this.folder)) {
      const text = readFileSync(join(this.folder, file), 'utf8');
      // Sessions that copy tensors stay open, and have written nothing yet.
      const events = (text === '' ? [] : JSON.parse(text)) as ProfileEvent[];
      for (const { cat, args } of events) {
        if (cat !== 'Node' || args?.provider === undefined) continue;
        const shapes = (args.output_type_shape ?? []).flatMap(({ float }) =>
          float ? [float] : [],
        );
        const isTensor = shapes.some((shape) => shape.reduce((a, b) => a * b, 1) > 1);
        if (!isTensor) continue;
        const counts = ops.get(args.op_name!) ?? {};
        counts[args.provider] = (counts[args.provider] ?? 0) + 1;
        ops.set(args.op_name!, counts);
      }
    }
    return ops;
  }

  /** Ops that ran on the CPU. */
  fallbacks(): string[] {
    return [...this.floatOps()]
      .filter(([, counts]) => counts.CPUExecutionProvider !== undefined)
      .map(([op]) => op)
      .sort();
  }

  /** ONNX Runtime names files by the second, so sessions need their own prefix. */
  private nextFile(): string {
    return join(this.folder, `session-${this.sessions++}`);
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}
