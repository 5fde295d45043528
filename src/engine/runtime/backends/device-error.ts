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
