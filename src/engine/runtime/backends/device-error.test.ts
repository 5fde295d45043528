import { expect, test } from 'vitest';
import { explainDeviceError, explainRunError } from './device-error.ts';

test('explainDeviceError() says what a device needs', () => {
  const { message } = explainDeviceError('webgpu', new Error('No supported adapters\n'));
  expect(message).toBe(
    'Cannot compile for device "webgpu": it needs a GPU with a Vulkan, Metal or Direct3D 12 driver; without it use "cpu" (No supported adapters)',
  );
});

test.each([
  [
    'Failed to allocate memory: Out of memory',
    'Cannot run on device webgpu: its memory is full (Failed to allocate memory: Out of memory); run fewer tokens or texts at once, or use device cpu',
  ],
  [
    'WebGPU device lost (2): driver reset',
    'Cannot run on device webgpu: it was lost (WebGPU device lost (2): driver reset); resume from the last checkpoint, on device cpu if it is lost again',
  ],
  [
    'WebGPU validation failed. Buffer size (6400000000) exceeds the max buffer size limit (1073741824).\n - While calling [Device].CreateBuffer([BufferDescriptor]).',
    'Cannot run on device webgpu: its memory is full (WebGPU validation failed. Buffer size (6400000000) exceeds the max buffer size limit (1073741824).); run fewer tokens or texts at once, or use device cpu',
  ],
  ['Invalid dimension', 'Invalid dimension'],
])('explainRunError() names a remedy: %s', (message, explained) => {
  expect(explainRunError('webgpu', new Error(message)).message).toBe(explained);
});
