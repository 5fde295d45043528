import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { TrainEvent } from '../../src/loop/index.ts';
import { rewardRun } from '../../src/run/index.ts';

const assets = fileURLToPath(new URL('../../../shared/assets', import.meta.url));
const data = join(assets, 'hh-rlhf/helpful-base.test.jsonl.gz');
const modelName = join(assets, 'stories15M-hf');
const hasAssets = existsSync(data) && existsSync(modelName);

describe('a reward model for real human preferences', () => {
  it.skipIf(!hasAssets)(
    'lowers the training loss on HH pairs (needs ../shared/assets)',
    { timeout: 600_000 },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'proximal-hh-'));
      const losses: number[] = [];
      const messages: string[] = [];
      const onEvent = (event: TrainEvent) => {
        if (event.type === 'step') losses.push(event.metrics['train/loss']!);
        if (event.type === 'warning') messages.push(event.message);
      };
      try {
        const { modelFolder, evaluations } = await rewardRun(
          {
            data,
            modelName,
            output: join(folder, 'run'),
            maxRows: 200,
            maxSteps: 24,
            batchSize: 8,
            learningRate: 1e-3,
            loraDropout: 0,
          },
          { onEvent },
        );
        expect(existsSync(join(modelFolder!, 'adapter_model.safetensors'))).toBe(true);
        const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;
        expect(mean(losses.slice(-6))).toBeLessThan(mean(losses.slice(0, 6)));
        expect([evaluations!.first.step, evaluations!.last.step]).toEqual([0, 24]);
        expect(messages).toEqual([
          expect.stringMatching('^Left out 116 of 316 rows: 115 too-long, 1 empty-completion; '),
        ]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});
