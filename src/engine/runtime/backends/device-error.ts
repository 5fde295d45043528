/** What each device other than the CPU needs. */
const requirements: Readonly<Record<string, string>> = {
  webgpu: 'a GPU with a Vulkan, Metal or Direct3D 12 driver',
  cuda: "Linux on x64 with CUDA 12 and ONNX Runtime's CUDA files (node node_modules/onnxruntime-node/script/install.js --onnxruntime-node-install=cuda12)",
};

/** The error of a session that could not be created, with what the device needs. */
export function explainDeviceError(device: string, error: Error): Error {
  return new Error(
    `Cannot compile for device "${device}": it needs ${requirements[device]}; without it use "cpu" (${error.message.trim()})`,
    { cause: error },
  );
}

/** What can go wrong with a device during a run, and the remedy. */
const failures = {
  'full memory': {
    // No memory, or too much for one buffer or for all that a shader may read.
    pattern:
      /out of memory|allocat|\[Invalid Buffer|max buffer size limit|storage buffers in shader/i,
    problem: 'its memory is full',
    remedy: 'run fewer tokens or texts at once, or use device cpu',
  },
  lost: {
    pattern: /\blost\b/i,
    problem: 'it was lost',
    remedy: 'resume from the last checkpoint, on device cpu if it is lost again',
  },
} as const;

/** A device that could not run a graph. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly kind: keyof typeof failures;
  /** What happened, without the remedy. */
  readonly problem: string;

  constructor(kind: keyof typeof failures, { device, cause }: { device: string; cause: Error }) {
    const { problem, remedy } = failures[kind];
    const reason = cause.message.trim().split('\n')[0];
    const sentence = `Cannot run on device ${device}: ${problem} (${reason})`;
    super(`${sentence}; ${remedy}`, { cause });
    this.kind = kind;
    this.problem = sentence;
  }
}

/** The error of a run on a device with its own memory; a `DeviceError` if the device is the reason. */
export function explainRunError(device: string, cause: Error): Error {
  for (const [kind, { pattern }] of Object.entries(failures)) {
    if (pattern.test(cause.message)) {
      return new DeviceError(kind as keyof typeof failures, { device, cause });
    }
  }
  return cause;
}
