/**
 * Traces a checkout within one process, which `trace.ts` starts.
 *
 *   node --import tsx trace-child.ts first-token TREE OUTPUT MODEL PROMPTS
 *   node --import tsx trace-child.ts step TREE OUTPUT MODEL PROMPTS
 *
 * `first-token` runs `proximal train` until the sampler returns its first token. `step` trains and
 * looks at the second step: from the event of the first step to the event of the second.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [mode, tree, output, model, promptsFile] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const source = join(tree, 'src');
/** Functions that the TypeScript loader adds to every module. */
const compilerHelpers = new Set(['__name', '__export', '<static_initializer>']);
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

await (mode === 'step' ? traceStep() : traceFirstToken());

async function traceFirstToken(): Promise<void> {
  await onFirstSample((frames) => {
    write({ frames, ...takeCoverage() });
    process.exit(0);
  });
  await onParsedArguments(takeCoverage);
  process.argv = [
    ...[process.execPath, join(source, 'cli/main.ts'), 'train'],
    ...['--model', model, '--prompts', promptsFile, '--validation-fraction', '0'],
    ...['--reward', 'brevity:target=6', '--max-new-tokens', '4', '--max-steps', '1'],
    ...['--output', `${output}.run`],
  ];
  await importSource('cli/main.ts');
}

async function traceStep(): Promise<void> {
  const { PPOTrainer } = (await importSource('index.ts')) as {
    PPOTrainer: new (
      config: object,
      options: object,
    ) => { train(prompts: readonly string[], options: object): Promise<unknown> };
  };
  const prompts = readFileSync(promptsFile, 'utf8').trim().split('\n');
  const trainer = new PPOTrainer(
    { modelName: model, maxNewTokens: 8, batchSize: prompts.length },
    { rewards: { length: ({ response }: { response: string }) => response.length / 100 } },
  );
  let steps = 0;
  const onEvent = ({ type }: { type: string }) => {
    if (type !== 'step') return;
    const coverage = takeCoverage();
    steps += 1;
    if (steps === 2) write(coverage);
  };
  await trainer.train(prompts, { numEpochs: 2, onEvent });
  if (steps < 2) throw new Error('Cannot trace a step: no "step" event came twice');
}

/** Calls back once, after the first token was sampled, with the frames that led to it. */
async function onFirstSample(take: (frames: Frame[]) => void): Promise<void> {
  const path = readdirSync(source, { recursive: true, encoding: 'utf8' }).find((file) =>
    /^generation\/(.*\/)?sampler\.ts$/.test(file),
  );
  if (path === undefined) throw new Error('Cannot find sampler.ts in src/generation');
  const { Sampler } = (await importSource(path)) as { Sampler?: { prototype: SamplerMethods } };
  const sample = Sampler?.prototype.sample;
  if (Sampler === undefined || sample === undefined) {
    throw new Error(`Cannot trace the first token: src/${path} must export Sampler with sample()`);
  }
  Sampler.prototype.sample = function (...args) {
    const frames = [...callers(), { file: path, name: 'Sampler.sample' }];
    sample.apply(this, args);
    take(frames);
  };
}

interface SamplerMethods {
  sample?: (this: unknown, ...args: unknown[]) => unknown;
}

interface Frame {
  readonly file: string;
  readonly name: string;
}

/** Frames of the current call in src, outermost first, across awaits. */
function callers(): Frame[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = Infinity;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack as unknown as NodeJS.CallSite[];
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  return sites
    .map((site) => ({ file: sourcePath(site.getFileName() ?? ''), name: describe(site) }))
    .filter((frame): frame is Frame => frame.file !== undefined)
    .reverse();
}

function describe(site: NodeJS.CallSite): string {
  const type = site.getTypeName();
  const name = site.getFunctionName() ?? '(anonymous)';
  return type === null || type === 'Object' || name.includes('.') ? name : `${type}.${name}`;
}

/** Calls back when the CLI starts to read its arguments: all modules are loaded by then. */
async function onParsedArguments(take: () => unknown): Promise<void> {
  const { Command } = createRequire(join(tree, 'package.json'))('commander');
  const { parseAsync } = Command.prototype;
  Command.prototype.parseAsync = function (...args: readonly unknown[]) {
    take();
    return parseAsync.apply(this, args);
  };
}

interface Coverage {
  readonly files: readonly string[];
  readonly functions: number;
}

/** Files and functions of src that ran since the last call; module bodies do not count. */
function takeCoverage(): Coverage {
  let coverage: Coverage | undefined;
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error;
    const scripts = result.map(({ url, functions }) => ({
      file: sourcePath(url),
      called: functions.filter(({ functionName, ranges: [range] }) => {
        const isModule = functionName === '' && range?.startOffset === 0;
        return !isModule && !compilerHelpers.has(functionName) && (range?.count ?? 0) > 0;
      }).length,
    }));
    const ran = scripts.filter(({ file, called }) => file !== undefined && called > 0);
    coverage = {
      files: ran.map(({ file }) => file as string).sort(),
      functions: ran.reduce((sum, { called }) => sum + called, 0),
    };
  });
  return coverage!;
}

/** A script's path in src; undefined for other scripts. */
function sourcePath(url: string): string | undefined {
  const path = url.startsWith('file:') ? fileURLToPath(url.split('?')[0]!) : url;
  return path.startsWith(`${source}/`) ? relative(source, path) : undefined;
}

function importSource(path: string): Promise<unknown> {
  return import(pathToFileURL(join(source, path)).href);
}

function write(result: object): void {
  writeFileSync(output, JSON.stringify(result));
}
