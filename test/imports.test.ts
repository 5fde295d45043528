import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { expect, onTestFinished, test, vi } from 'vitest';

vi.setConfig({ testTimeout: 30_000 });

const root = fileURLToPath(new URL('..', import.meta.url));

/** Every import in `folders` of `baseDir` that breaks a rule, as `from -> to`. */
async function violations(baseDir: string, folders: string[]) {
  const options = await extractDepcruiseOptions(join(root, '.dependency-cruiser.mjs'));
  const { output } = await cruise(folders, { ...options, baseDir });
  const { summary } = output as ICruiseResult;
  expect(summary.totalCruised).toBeGreaterThan(0);
  return [...new Set(summary.violations.map(({ from, to }) => `${from} -> ${to}`))].sort();
}

/** Writes a tree of modules in which each `from -> to` is a type-only import. */
function writeTree(imports: string[]) {
  const tree = mkdtempSync(join(tmpdir(), 'proximal-imports-'));
  onTestFinished(() => rmSync(tree, { recursive: true }));
  const append = (file: string, text: string) => {
    mkdirSync(join(tree, dirname(file)), { recursive: true });
    appendFileSync(join(tree, file), text);
  };
  for (const line of imports) {
    const [from, to] = line.split(' -> ') as [string, string];
    const isPackage = !to.endsWith('.ts');
    const target = isPackage ? to : `./${relative(dirname(from), to)}`;
    append(from, `import type {} from '${target}';\n`);
    if (!isPackage) append(to, '');
  }
  return tree;
}

test('imports in this repository follow the arrows and form no cycle', async () => {
  expect(await violations(root, ['src', 'test', 'bench'])).toEqual([]);
});

test('an import along the arrows is allowed', async () => {
  const tree = writeTree([
    'src/engine/onnx/lower.ts -> src/engine/graph/value.ts',
    'src/engine/onnx/lower.test.ts -> src/engine/runtime/run.ts',
    'src/engine/runtime/run.ts -> src/engine/onnx/lower.ts',
    'src/engine/runtime/run.ts -> src/engine/graph/value.ts',
    'src/engine/runtime/backends/node-runtime.ts -> onnxruntime-node',
    'src/engine/runtime/backends/node-runtime.ts -> fs',
    'src/engine/runtime/backends/web-runtime.ts -> onnxruntime-web',
    'src/base-setup/lora.ts -> src/engine/runtime/run.ts',
    'src/base-setup/lora.ts -> src/config/model.ts',
    'src/data/prompts.ts -> src/base-setup/lora.ts',
    'src/advantage/gae.ts -> src/models/value.ts',
    'src/stages/sft.ts -> src/data/prompts.ts',
    'src/ppo-trainer/trainer.ts -> src/advantage/gae.ts',
    'src/run/resume.ts -> src/ppo-trainer/trainer.ts',
    'src/index.ts -> src/run/resume.ts',
    'src/cli/train.ts -> src/run/resume.ts',
    'src/cli/train.ts -> src/dashboard/server.ts',
  ]);
  expect(await violations(tree, ['src'])).toEqual([]);
});

test('an import against the arrows is reported', async () => {
  const forbidden = [
    'src/advantage/gae.ts -> src/ppo-trainer/trainer.ts',
    'src/base-setup/lora.ts -> src/models/value.ts',
    'src/config/model.ts -> src/base-setup/tokenizer.ts',
    'src/data/prompts.ts -> src/engine/graph/value.ts',
    'src/data/prompts.ts -> src/models/value.ts',
    'src/engine/graph/check.ts -> fs',
    'src/engine/graph/check.ts -> onnxruntime-node',
    'src/engine/graph/check.ts -> src/engine/onnx/lower.ts',
    'src/engine/graph/check.ts -> src/engine/runtime/run.ts',
    'src/engine/onnx/lower.ts -> src/engine/runtime/run.ts',
    'src/engine/optim/adamw.ts -> src/engine/graph/value.ts',
    'src/engine/runtime/run.ts -> onnxruntime-web',
    'src/engine/runtime/run.ts -> src/config/model.ts',
    'src/index.ts -> src/cli/train.ts',
    'src/models/decoder/layer.ts -> src/generation/sampler.ts',
    'src/ppo-trainer/trainer.ts -> src/cli/train.ts',
    'src/ppo-trainer/trainer.ts -> src/run/resume.ts',
    'src/run/resume.ts -> src/dashboard/server.ts',
    'src/run/resume.ts -> test/helper.ts',
    'src/stages/sft.ts -> onnxruntime-node',
  ];
  expect(await violations(writeTree(forbidden), ['src'])).toEqual(forbidden);
});

test('a cycle is reported', async () => {
  const tree = writeTree([
    'src/engine/graph/check.ts -> src/engine/graph/value.ts',
    'src/engine/graph/value.ts -> src/engine/graph/print.ts',
    'src/engine/graph/print.ts -> src/engine/graph/check.ts',
  ]);
  expect(await violations(tree, ['src'])).toHaveLength(1);
});
