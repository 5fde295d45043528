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

/** The error of a run on a device with its own memory, with a remedy if the device is the reason. */
export function explainRunError(device: string, error: Error): Error {
  const reason = error.message.trim().split('\n')[0];
  if (/out of memory|allocat/i.test(error.message)) {
    return new Error(
      `Cannot run on device ${device}: its memory is full (${reason}); lower maxTokensAtOnce, microBatchSize or rolloutBatchSize, or use device cpu`,
      { cause: error },
    );
  }
  if (/\blost\b/i.test(error.message)) {
    return new Error(
      `Cannot run on device ${device}: it was lost (${reason}); resume from the last checkpoint, on device cpu if it is lost again`,
      { cause: error },
    );
  }
  return error;
}
