import { existsSync } from 'node:fs';

/** Where Debian's chromium has its Vulkan loader and SwiftShader, a Vulkan driver for processors. */
const folder = process.env.PROXIMAL_SWIFTSHADER ?? '/usr/lib/chromium';
const loader = `${folder}/libvulkan.so.1`;
const driver = `${folder}/vk_swiftshader_icd.json`;

/** dlopen flags of Linux: resolve symbols late, and keep the library after it is closed. */
const LAZY_AND_KEPT = 0x1 | 0x1000;

/** Makes SwiftShader the GPU of this process; returns whether it exists. Call it before the first session. */
export function useSwiftShader(): boolean {
  if (!existsSync(loader) || !existsSync(driver)) return false;
  process.env.VK_ICD_FILENAMES = driver;
  try {
    process.dlopen({ exports: {} }, loader, LAZY_AND_KEPT);
  } catch {
    // Node rejects it because it is no addon, after it was loaded: ONNX Runtime now finds it by name.
  }
  return true;
}
