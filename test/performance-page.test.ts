import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillTables, performancePage, readResults } from '../tools/performance/fill-tables.ts';

test('the tables of docs/performance.md match the saved results', () => {
  const page = readFileSync(performancePage, 'utf8');
  expect(fillTables(page, readResults())).toBe(page);
});

test('a page without markers is an error', () => {
  expect(() => fillTables('', {})).toThrow(
    'Cannot fill the page: it must contain <!-- ppo-step --> and <!-- /ppo-step -->, got neither',
  );
});

test('a row names its case, processor and peers; a peer without a result has dashes', () => {
  const markers = ['ppo-step', 'ppo-phases', 'small-update', 'ppo-scaling'];
  const page = markers.map((name) => `<!-- ${name} -->\n<!-- /${name} -->\n`).join('');
  const bf16 = { seconds: 12, phases: { rest: 1.25 }, peak_rss_mb: 8000 };
  const filled = fillTables(page, {
    'ppo-step-a': {
      ...{ seconds: 4, phases: { generate: 1.5, update: 2.5 }, peak_rss_mb: 2000 },
      ...{ case: 'mixed', precision: 'int8', base_precision: 'int8', lora_layers: [20, 27] },
      ...{ contended: true, processor: 'AMD EPYC, avx2, 2 cores' },
      ...{ peers: { torch_bf16: bf16 }, ratios: { torch_bf16: 3 } },
      rss_ratios: { torch_bf16: 0.25 },
    },
    'small-update': {
      ...{ milliseconds: 123.4, contended: false, processor: 'AMD EPYC, avx2, 2 cores' },
      ...{ peers: { torch: { seconds: 0.1672, other_cores: 0.05 } }, ratios: { torch: 1.36 } },
    },
    'ppo-scaling': { curves: {}, long: {}, processor: 'Xeon' },
  });
  const label = 'mixed, int8 base, LoRA in layers 20–27, contended | AMD EPYC, avx2, 2 cores';
  expect(filled).toContain(
    `| ${label} | 4.0 s | – | – | 12.0 s (3 ×) | 2.1 GB | – | – | 8.4 GB (0.25) | – |`,
  );
  expect(filled).toContain(`| ${label} | torch, bfloat16 | rest 1.3 |`);
  expect(filled).toContain(
    '| AMD EPYC, avx2, 2 cores | 123 ms | torch + PEFT | 167 ms | 1.36 × | 0.05 |',
  );
});
