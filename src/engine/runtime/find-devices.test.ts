import { expect, test } from 'vitest';
import { backendOf } from './devices.ts';
import { expectDevice, findDevices } from './find-devices.ts';
import { threadCount } from './thread-count.ts';

const [cpu, webgpu] = await findDevices();

test('findDevices() lists the processor with its threads', () => {
  const threads = threadCount();
  const detail = threads === 1 ? '1 thread' : `${threads} threads`;
  expect(cpu).toEqual({ device: 'cpu', isUsable: true, detail });
});

test.skipIf(webgpu!.isUsable)(
  'expectDevice() says what WebGPU needs without an adapter',
  async () => {
    await expect(expectDevice(backendOf('webgpu'))).rejects.toThrow(
      `Cannot use device webgpu: it needs a GPU with a Vulkan, Metal or Direct3D 12 driver, got "${webgpu!.detail}"; use device cpu`,
    );
    expect(webgpu!.detail).not.toMatch(/onnxruntime_src|\n/);
  },
);

test('expectDevice() accepts the processor', async () => {
  await expectDevice(backendOf('cpu'));
});
