import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

const schema = z.strictObject({
  hiddenSize: z.int().min(1).default(768).describe('Width'),
  topP: z.number().positive().max(1).optional().describe('Nucleus'),
  kind: z.enum(['a', 'b']).default('a').describe('Which one'),
  tie: z.boolean().default(true).describe('Share the matrix'),
  verbose: z.boolean().default(false).describe('Say more'),
  title: z.string().optional().describe('What it is called'),
  stop: z.array(z.string().min(1)).default([]).describe('Ends a text'),
  layout: z.string().optional().describe('Of a text').meta({ escapes: true }),
});

/** The parsed flags, or the error. */
function parse(...args: string[]): object {
  let text = '';
  const command = addSchemaOptions(new Command('make'), schema)
    .exitOverride()
    .configureOutput({ writeErr: (error) => (text += error) });
  try {
    command.parse(args, { from: 'user' });
    return readSchemaOptions(command, schema);
  } catch {
    return { error: text };
  }
}

describe('addSchemaOptions()', () => {
  test('describes each field with its default', () => {
    const help = addSchemaOptions(new Command('make').helpOption(false), schema)
      .configureHelp({ helpWidth: 100 })
      .helpInformation();
    expect(help).toBe(
      [
        'Usage: make [options]',
        '',
        'Options:',
        '  --hidden-size <number>  Width (default: 768)',
        '  --top-p <number>        Nucleus',
        '  --kind <name>           Which one (choices: "a", "b", default: "a")',
        '  --no-tie                Turn off: share the matrix',
        '  --verbose               Say more',
        '  --title <text>          What it is called',
        '  --stop <text>           Ends a text',
        '  --layout <text>         Of a text',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['--hidden-size', 'abc', 'a whole number ≥ 1'],
    ['--hidden-size', '', 'a whole number ≥ 1'],
    ['--hidden-size', '0x10', 'a whole number ≥ 1'],
    ['--hidden-size', '1.5', 'a whole number ≥ 1'],
    ['--hidden-size', '-3', 'a whole number ≥ 1'],
    ['--top-p', '1.01', 'a number > 0 and ≤ 1'],
    ['--top-p', 'Infinity', 'a number > 0 and ≤ 1'],
    ['--kind', 'c', 'a or b'],
    ['--stop', '', 'text that is not empty'],
  ])('rejects %s %j', (flag, value, rule) => {
    expect(parse(flag, value)).toEqual({
      error: `Cannot use ${flag}: it must be ${rule}, got ${JSON.stringify(value)}\n`,
    });
  });
});

describe('readSchemaOptions()', () => {
  test('returns nothing if no flag was passed', () => {
    expect(parse()).toEqual({});
  });

  test('returns values of the right type', () => {
    const numbers = ['--hidden-size', '1e3', '--top-p', '.5'];
    const flags = ['--kind', 'b', '--no-tie', '--verbose', '--title', '12'];
    expect(parse(...numbers, ...flags)).toEqual({
      hiddenSize: 1000,
      topP: 0.5,
      kind: 'b',
      tie: false,
      verbose: true,
      title: '12',
    });
  });

  test('collects a list', () => {
    expect(parse('--stop', 'x', '--stop', ' y')).toEqual({ stop: ['x', ' y'] });
  });

  test.each([
    [String.raw`Q: {q}\n\tA:`, 'Q: {q}\n\tA:'],
    [String.raw`a\\nb\\\n`, 'a\\nb\\\n'],
    ['a\nb', 'a\nb'],
  ])('reads the escape sequences of %j', (text, layout) => {
    expect(parse('--layout', text, '--title', text)).toEqual({ layout, title: text });
  });

  test.each([String.raw`\boxed{q}`, 'q\\'])('rejects a lone backslash in %j', (text) => {
    expect(parse('--layout', text)).toEqual({
      error: `Cannot use --layout: a backslash must be followed by n, t or another backslash, got ${JSON.stringify(text)}; write \\\\ for a backslash\n`,
    });
  });

  test('keeps a flag that repeats the default', () => {
    expect(parse('--tie', '--no-verbose', '--hidden-size', '768')).toEqual({
      tie: true,
      verbose: false,
      hiddenSize: 768,
    });
  });
});
