import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ConfigField, configFields } from '../src/config/config-fields.ts';
import { type PPOConfig, ppoConfigSchema } from '../src/config/ppo-config.ts';
import { trainingConfigSchema } from '../src/config/training-config.ts';
import { episodeMetrics } from '../src/environments/index.ts';
import { readDocument, root } from './helpers/doc-snippets.ts';
import { tablesUnder } from './helpers/doc-tables.ts';
import { trainTiny } from './helpers/ppo-run.ts';
import { stageMetrics } from './helpers/stage-metrics.ts';

/** The word in backticks if a cell has nothing else, otherwise the cell. */
function wordIn(cell: string): string {
  const [, word] = /^`([^`]+)`$/.exec(cell) ?? [];
  return word ?? cell;
}

describe('metrics.md', () => {
  const { text } = readDocument('docs/metrics.md');
  const namesUnder = (heading?: string) =>
    tablesUnder(text, heading).map(({ metric }) => wordIn(metric!));
  const valueMetrics = [...namesUnder('Value model'), 'eval/explained_variance'];
  const stageNames = namesUnder('SFT and reward model');
  const episodeNames = namesUnder('Episodes');

  test.each<[string, PPOConfig['advantageEstimator'], readonly string[]]>([
    ['with a value model', 'gae', []],
    ['without one', 'reinforce++', valueMetrics],
  ])('has the metrics of a PPO run %s, and no others', async (_, estimator, missing) => {
    const { events } = await trainTiny(
      { maxNewTokens: 4, batchSize: 3, loraR: 4, advantageEstimator: estimator },
      { maxSteps: 1, validationPrompts: ['x', 'y'], evalBestOf: 2, stopOnCollapse: false },
    );
    const emitted = events.flatMap((event) => {
      if (event.type === 'step') return Object.keys(event.metrics);
      return event.type === 'evaluation' ? Object.keys(event.metrics) : [];
    });
    const general = emitted.map((name) => name.replace('rewards/countX/', 'rewards/{source}/'));
    const excluded = [...missing, ...stageNames, ...episodeNames];
    const expected = namesUnder().filter((name) => !excluded.includes(name));
    expect([...new Set(general)].sort()).toEqual(expected.toSorted());
  });

  test('has the metrics of SFT and of reward models, and no others', async () => {
    const emitted = [...(await stageMetrics('sft')), ...(await stageMetrics('reward'))];
    const shared = ['episode', 'lr', 'perf/rss_mb'];
    expect([...new Set(emitted)].sort()).toEqual([...stageNames, ...shared].sort());
    expect(namesUnder()).toEqual(expect.arrayContaining(shared));
  });

  test('has the metrics of episodes, and no others', () => {
    const call = { output: '7', seconds: 1 };
    const metrics = episodeMetrics([{ messages: [], turns: [{ end: 1, calls: [call] }] }]);
    expect(Object.keys(metrics).sort()).toEqual(episodeNames.toSorted());
  });

  test('has a formula and a unit for each metric', () => {
    for (const { metric, formula, unit } of tablesUnder(text)) {
      expect(formula, metric).toMatch(/\w/);
      expect(unit, metric).not.toBe('');
    }
  });
});

describe('ppo.md', () => {
  const { text } = readDocument('docs/ppo.md');
  const [beforeTraining] = text.split('\n## Training config\n');
  const rowsWithKeys = (part: string) =>
    tablesUnder(part).filter(({ config = '—' }) => config !== '—');

  test.each([
    ['PPO', configFields(ppoConfigSchema), rowsWithKeys(beforeTraining!)],
    [
      'training',
      configFields(trainingConfigSchema),
      tablesUnder(text, 'Training config').filter(({ config }) => config !== undefined),
    ],
  ])('has every key of the %s config once, with its default', (_, fields, rows) => {
    const documented = rows.map(({ config, default: standard }) => [wordIn(config!), standard!]);
    expect(documented.map(([key]) => key).toSorted()).toEqual(
      fields.map(({ key }) => key).toSorted(),
    );
    const written = new Map(documented.map(([key, standard]) => [key!, standard!]));
    for (const field of fields)
      expect(written.get(field.key), field.key).toSatisfy(isDefault(field));
  });

  test('names a function and a test for every key', () => {
    for (const { config, code, tests } of rowsWithKeys(text)) {
      expect(code, config).toMatch(/^\[`\w/);
      expect(tests, config).toMatch(/\.test\.ts\)/);
    }
  });

  test('has the sixteen details in order', () => {
    const numbers = [...text.matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
  });
});

/** Whether a table's text is the default of a field: `none` is no value and an empty list. */
function isDefault({ type, default: standard }: ConfigField): (text: string) => boolean {
  if (standard === undefined) return (text) => text === 'none';
  if (Array.isArray(standard)) return (text) => text === (standard.join(', ') || 'none');
  if (type === 'number' || type === 'integer') return (text) => Number(text) === standard;
  return (text) => text === String(standard);
}

const documents = ['docs', 'docs/decisions', 'docs/how-to']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
  .filter((path) => path.endsWith('.md'));

/** Files that docs may name, by the full path or its end. */
const sources = ['src', 'test', 'tools', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
    (path) => `/${folder}/${path}`,
  ),
);

describe.each(documents)('%s', (path) => {
  const { text } = readDocument(path);
  const folder = dirname(join(root, path));
  const links = [...text.matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)]
    .map(([, label, target]) => ({ label: label!, target: target! }))
    .filter(({ target }) => !/^\w+:/.test(target));

  test('links only to existing files and headings', () => {
    for (const { target } of links) {
      const [file, heading] = target.split('#') as [string, string | undefined];
      const linked = file === '' ? join(root, path) : join(folder, file);
      expect(existsSync(linked), target).toBe(true);
      if (heading !== undefined) expect(anchorsOf(linked), target).toContain(heading);
    }
  });

  test('names only functions in the linked files', () => {
    for (const { label, target } of links) {
      const [, name] = /^`([\w.]+)(?:\(\))?`$/.exec(label) ?? [];
      if (name === undefined || !target.endsWith('.ts')) continue;
      const code = readFileSync(join(folder, target), 'utf8');
      const isDeclared = name.split('.').every((part) => declares(part).test(code));
      expect(isDeclared, `${name} of ${target}`).toBe(true);
    }
  });

  test('names only existing files', () => {
    const inText = text.replace(/^```[\s\S]*?^```/gm, '');
    const paths = [...inText.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|py|md|json))`/g)];
    for (const [, end] of paths) {
      expect(
        sources.some((file) => file.endsWith(`/${end}`)),
        end,
      ).toBe(true);
    }
  });
});

/** Matches the declaration of a function, class, constant or method. */
function declares(name: string): RegExp {
  return new RegExp(
    `(?:function\\*?|class|const) ${name}\\b|^ +(?:(?:private|static|async) )*\\*?${name}\\((?:.*[{(])?$`,
    'm',
  );
}

/** The headings of a document as link anchors. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
