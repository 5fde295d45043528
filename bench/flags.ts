import { parseArgs } from 'node:util';
import type { BenchOptions } from './measure.ts';
import { PEERS } from './peer.ts';
import { type CaseName, type LoraLayers, stepCases } from './ppo-step/cases.ts';
import { QWEN3_SIZES } from './qwen3.ts';

const CASES = Object.keys(stepCases) as CaseName[];
const PRECISIONS = ['f32', 'f32-feeds', 'int8', 'int8-packed'] as const;
const BASE_PRECISIONS = ['f32', 'int8', 'auto'] as const;

/** The name of a benchmark and the options of its flags. */
export interface BenchCommand {
  readonly name: string;
  readonly json: boolean;
  readonly options: BenchOptions;
}

/** Reads the command line of `npm run bench`. */
export function readFlags(argv: readonly string[]): BenchCommand {
  const { positionals, values } = parseArgs({
    args: withDefaultPython(argv),
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      peer: { type: 'string' },
      peers: { type: 'string' },
      rounds: { type: 'string' },
      contended: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      seeds: { type: 'string', default: '1' },
      case: { type: 'string' },
      precision: { type: 'string' },
      'base-precision': { type: 'string' },
      'lora-layers': { type: 'string' },
      size: { type: 'string' },
    },
  });
  const { peers, rounds, case: stepCase, precision } = values;
  const { 'base-precision': basePrecision, 'lora-layers': loraLayers } = values;
  return {
    name: positionals[0] ?? '',
    json: values.json,
    options: {
      python: values.peer,
      peers: peers?.split(',').map((name) => readChoice(name, { flag: '--peers', choices: PEERS })),
      rounds: rounds === undefined ? undefined : readCount(rounds, '--rounds'),
      contended: values.contended,
      quiet: values.quiet,
      seeds: readCount(values.seeds, '--seeds'),
      case: readOptional(stepCase, { flag: '--case', choices: CASES }),
      precision: readOptional(precision, { flag: '--precision', choices: PRECISIONS }),
      basePrecision: readOptional(basePrecision, {
        flag: '--base-precision',
        choices: BASE_PRECISIONS,
      }),
      loraLayers: loraLayers === undefined ? undefined : readLayers(loraLayers),
      size: readOptional(values.size, { flag: '--size', choices: QWEN3_SIZES }),
    },
  };
}

/** `--peer` without a value uses python3 from the path. */
function withDefaultPython(argv: readonly string[]): string[] {
  return argv.flatMap((arg, i) => {
    const isAlone = argv[i + 1]?.startsWith('--') ?? true;
    return arg === '--peer' && isAlone ? [arg, 'python3'] : [arg];
  });
}

interface Choice<T extends string> {
  readonly flag: string;
  readonly choices: readonly T[];
}

function readOptional<T extends string>(
  value: string | undefined,
  choice: Choice<T>,
): T | undefined {
  return value === undefined ? undefined : readChoice(value, choice);
}

function readChoice<T extends string>(value: string, { flag, choices }: Choice<T>): T {
  const known = choices.find((choice) => choice === value.trim());
  if (known === undefined) {
    throw new TypeError(`Cannot use ${flag}: it must be ${formatChoices(choices)}, got "${value}"`);
  }
  return known;
}

const formatChoices = (choices: readonly string[]) =>
  `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;

function readCount(value: string, flag: string): number {
  if (!/^[1-9]\d*$/.test(value)) {
    throw new TypeError(`Cannot use ${flag}: it must be a whole number from 1, got "${value}"`);
  }
  return Number(value);
}

/** @example '8'  →  8, the upper 8 layers;  '4-11'  →  [4, 11], both included */
function readLayers(value: string): LoraLayers {
  const [, upper, first, last] = /^(?:([1-9]\d*)|(\d+)-(\d+))$/.exec(value) ?? [];
  if (upper !== undefined) return Number(upper);
  if (first === undefined || Number(first) > Number(last)) {
    throw new TypeError(
      `Cannot use --lora-layers: it must be a number of upper layers or a range such as 4-11, got "${value}"`,
    );
  }
  return [Number(first), Number(last)];
}
