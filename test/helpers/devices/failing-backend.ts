import { explainRunError } from '../../../src/engine/runtime/backends/device-error.ts';
import { type Backend, type BackendRuntime, backendOf } from '../../../src/engine/runtime/index.ts';

/** A device that fails on request, with a message of ONNX Runtime. */
export class FailingBackend implements Backend {
  readonly device: Backend['device'];
  readonly target: Backend['target'];
  readonly keepsTensors: boolean;
  private readonly real: Backend;
  private failure: string | undefined;

  constructor(device: 'cpu' | 'webgpu' = 'cpu') {
    this.real = backendOf(device);
    this.device = device;
    this.target = this.real.target;
    this.keepsTensors = this.real.keepsTensors;
  }

  /** Makes all following runs fail; none if there is no message. */
  fail(message: string | undefined): void {
    this.failure = message;
  }

  async open(): Promise<BackendRuntime> {
    const runtime = await this.real.open();
    return {
      ...runtime,
      createSession: async (model, settings) => {
        const session = await runtime.createSession(model, settings);
        return {
          release: () => session.release(),
          run: async (feeds) => {
            if (this.failure === undefined) return session.run(feeds);
            throw explainRunError('webgpu', new Error(this.failure));
          },
        };
      },
    };
  }
}
