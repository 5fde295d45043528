import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as components from '../src/components.ts';
import { type ConfigField, configFields } from '../src/config/config-fields.ts';
import { modelConfigSchema } from '../src/config/model-config.ts';
import { ppoConfigSchema } from '../src/config/ppo-config.ts';
import { trainingConfigSchema } from '../src/config/training-config.ts';
import * as engine from '../src/engine/index.ts';
import * as main from '../src/index.ts';
import { declaredNames } from './helpers/declared-names.ts';
import { readDocument, root } from './helpers/doc-snippets.ts';
import { tablesUnder } from './helpers/doc-tables.ts';
import { countX, tinyLoaded, tinyPrompts } from './helpers/ppo-run.ts';
import { readSpecificationNames } from './helpers/specification-names.ts';

const rows = tablesUnder(readDocument('docs/specification.md').text).map((row) => {
  const specification = row.specification!.split('; ').map((name) => name.replaceAll('`', ''));
  const ours = [...row.ours!.matchAll(/`([^`]+)`(?: = ([^,]+))?/g)].map(([, name, standard]) => ({
    name: name!,
    standard,
  }));
  const where = [...row.where!.matchAll(/\[[\w.-]+\]\((?:\.\.\/)?([\w./-]+)\)/g)].map(([, path]) =>
    path!.startsWith('src/') ? path! : `docs/${path}`,
  );
  const code = [...row.specification!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  return { specification, code, ours, where, difference: row.difference! };
});

type SpecificationRow = (typeof rows)[number];

const names: readonly string[] = JSON.parse(
  readFileSync(join(root, 'test/fixtures/specification/names.json'), 'utf8'),
);
const documents = join(root, '../shared/seeds');

const fieldsOf = new Map<string, readonly ConfigField[]>([
  ['src/config/ppo-config.ts', configFields(ppoConfigSchema)],
  ['src/config/training-config.ts', configFields(trainingConfigSchema)],
  ['src/config/model-config.ts', configFields(modelConfigSchema)],
]);

const metricNames = tablesUnder(readDocument('docs/metrics.md').text).map(({ metric }) =>
  metric!.replaceAll('`', ''),
);

/** What the package exports: values by name, and the names of its types. */
const exportedValues: Readonly<Record<string, unknown>> = { ...main, ...components, ...engine };
const exportedTypes = ['src/index.ts', 'src/components.ts'].flatMap((path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/\btype (\w+)/g)].map(([, name]) => name!),
);

/** Parts that the page names but the package does not export. */
const internal = ['MemoryEstimator'];

describe('docs/specification.md', () => {
  test('has the names of the specification', ({ skip }) => {
    skip(!existsSync(documents), 'The documents are not next to the repository');
    expect(names).toEqual(readSpecificationNames(documents));
  });

  test('has a row for every name of the specification, and none twice', () => {
    const named = rows.flatMap(({ specification }) => specification);
    expect(named.toSorted()).toEqual(names.toSorted());
  });

  test('maps every row to names in the linked files, with the defaults of the configs', () => {
    expect(rows.flatMap(findMissing)).toEqual([]);
  });

  test('names classes, types and methods that the package exports', () => {
    const hidden = rows.flatMap(({ ours }) => ours.filter(({ name }) => !isPublic(name)));
    expect([...new Set(hidden.map(({ name }) => name))]).toEqual(internal);
  });

  test('has a reason for every different name, and the same defaults', () => {
    expect(rows.filter(({ difference }) => !/\w/.test(difference))).toEqual([]);
    const same = rows.filter(({ difference }) => difference === 'none');
    const renamed = same.flatMap((row) =>
      row.code.filter((name) => !lastParts(row).includes(ourNameOf(name))),
    );
    expect(renamed).toEqual([]);
    const changed = rows.filter(({ code, ours }) => {
      const [, standard] = / = (.*)$/.exec(code[0] ?? '') ?? [];
      return standard !== undefined && standard !== ours[0]!.standard;
    });
    expect(changed).toEqual([]);
  });

  test('names fields that a real step and a real run have', async () => {
    const trainer = new main.PPOTrainer(
      { maxNewTokens: 4, batchSize: 3, loraR: 4 },
      { model: tinyLoaded, rewards: countX },
    );
    const { experience } = await trainer.ppoStep(tinyPrompts.slice(0, 3));
    const pair = new components.PairList(experience).at(0)!;
    const results = await trainer.train(tinyPrompts, { maxSteps: 1, validationPrompts: ['x'] });
    const objects: Readonly<Record<string, object>> = {
      SAPair: JSON.parse(JSON.stringify(pair)),
      Experience: experience,
      TrainingResults: results,
      Convergence: results.report!.convergence,
    };
    const checked = rows.flatMap(({ ours }) =>
      ours.flatMap(({ name }) => {
        const [owner, field] = name.split('.');
        const object = objects[owner!];
        if (object === undefined || field === undefined) return [];
        expect(Object.keys(object), name).toContain(field);
        return [name];
      }),
    );
    expect(new Set(checked).size).toBe(11 + 4 + 4 + 3);
  });
});

/** Names in a row that do not exist or have another default, and links to nothing. */
function findMissing({ specification, ours, where }: SpecificationRow): string[] {
  const [first] = specification;
  if (ours.length === 0 || where.length === 0) return [`${first}: no name of ours`];
  const wrong = ours.flatMap(({ name, standard }) => {
    const path = where.find((one) => isIn(one, name));
    if (path === undefined) return [`${first}: no ${name} in ${where}`];
    const field = fieldsOf.get(path)?.find(({ key }) => key === name);
    if (showDefault(field) === showNumber(standard)) return [];
    return [`${first}: the default of ${name} is ${showDefault(field)}, not ${standard}`];
  });
  const unused = where.filter((path) => !ours.some(({ name }) => isIn(path, name)));
  return [...wrong, ...unused.map((path) => `${first}: ${path} has no name of this row`)];
}

/** Whether a file has a name: metrics.md as a metric, a config as a key, others as a declaration. */
function isIn(path: string, name: string): boolean {
  if (path === 'docs/metrics.md') return metricNames.includes(name);
  if (fieldsOf.get(path)?.some(({ key }) => key === name)) return true;
  return declaredNames(join(root, path)).has(name.replace('()', ''));
}

function showDefault(field: ConfigField | undefined): string | undefined {
  return field && String(field.default ?? 'none');
}

/** @example 1e-4  →  0.0001, as JavaScript prints it */
function showNumber(text: string | undefined): string | undefined {
  return Number.isNaN(Number(text)) ? text : String(Number(text));
}

/** Whether the package exports a class or type, and its class has a method of the name. */
function isPublic(name: string): boolean {
  const [, owner, member, call] = /^([A-Z]\w*)(?:\.(\w+)(\(\))?)?$/.exec(name) ?? [];
  if (owner === undefined) return true;
  const value = exportedValues[owner] as (new () => object) | undefined;
  if (call === undefined) return value !== undefined || exportedTypes.includes(owner);
  return [value?.prototype, value].some((object) => typeof object?.[member!] === 'function');
}

/** Last parts of our names, and the linked files. */
function lastParts({ ours, where }: SpecificationRow): string[] {
  const parts = ours.map(({ name }) => name.replace('()', '').split('.').at(-1)!);
  return [...parts, ...where.map((path) => path.split('/').at(-1)!)];
}

/** @example PolicyModel.forward(input_ids)  →  forward;  PPOConfig.lora_r = 16  →  loraR;
 *  sft_model.py  →  sft-model.ts;  kl_div  →  kl_div, a metric */
function ourNameOf(name: string): string {
  if (name.endsWith('.py')) return name.replace('.py', '.ts').replaceAll('_', '-');
  if (metricNames.includes(name)) return name;
  const last = name
    .replace(/[( ].*/, '')
    .split('.')
    .at(-1)!;
  return last.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
