import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { readPeftConfig } from '../../src/base-setup/lora/peft-files.ts';
import { readHeader } from '../../src/base-setup/safetensors/header.ts';
import { readFloat32Into } from '../../src/base-setup/safetensors/reader.ts';
import { readShardIndex } from '../../src/base-setup/safetensors/shard-index.ts';
import { countElements, isFloatDtype } from '../../src/base-setup/safetensors/tensor-info.ts';
import { loadTokenizer } from '../../src/base-setup/tokenizer/load-tokenizer.ts';
import { loadConfigFile, parseConfigText } from '../../src/config/load-config-file.ts';
import { resolveRunConfig, runConfigShape } from '../../src/config/run-config.ts';
import { AnswerLog } from '../../src/dashboard/labels/answer-log.ts';
import { groupsFromFile } from '../../src/dashboard/labels/create/response-groups.ts';
import { answersPath, readQueue } from '../../src/dashboard/labels/queue-folder.ts';
import { RunReader } from '../../src/dashboard/server/runs/run-reader.ts';
import { RunTables } from '../../src/dashboard/server/runs/run-tables.ts';
import { throwRowError } from '../../src/data/data-row.ts';
import { parseJsonLines } from '../../src/data/file-rows.ts';
import { loadCompletions, loadPreferences, loadPrompts, readRows } from '../../src/data/index.ts';
import { decodeLines } from '../../src/data/read-text.ts';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { CheckpointStore } from '../../src/loop/checkpoint-store.ts';
import { readLoopState } from '../../src/loop/loop-state-files.ts';
import { readConfig } from '../../src/models/decoder/load-model.ts';
import { decodeBlob, encodeBlob } from '../../src/queue/blob.ts';
import { readWorkersFile } from '../../src/queue/workers-file.ts';
import { HumanSource } from '../../src/reward-kl/human-source.ts';
import { readHumanRequests, readHumanScores } from '../../src/run/human-scores.ts';
import { truncateLog } from '../../src/run/log-files.ts';
import { readRunConfig } from '../../src/run/run-folder.ts';
import { expectUnlocked } from '../../src/run/run-lock.ts';
import { readRunState } from '../../src/run/run-state.ts';
import { MemorySource } from '../../test/fixtures/safetensors/make-file.ts';
import { writeFakeRun } from '../../test/helpers/fake-run.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';

/** Something that reads files of others, and valid files to mutate. */
export interface Reader {
  readonly inputs: readonly Buffer[];
  /** Reads a mutated file completely. */
  read(bytes: Buffer): Promise<unknown>;
}

const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../test/fixtures/safetensors/${name}`, import.meta.url)));

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** A reader of one file in a folder. */
function fileReader(path: string, input: string | Uint8Array, read: () => unknown): Reader {
  return {
    inputs: [Buffer.from(input)],
    read: async (bytes) => {
      writeFileSync(path, bytes);
      return read();
    },
  };
}

async function readAllRows(path: string): Promise<void> {
  for await (const _ of readRows(path));
}

/** All readers by name. Their files are in a folder of their own. */
export async function makeReaders(folder: string): Promise<Readonly<Record<string, Reader>>> {
  const newFolder = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  return {
    ...weightReaders(),
    ...configReaders(newFolder('config')),
    ...rowReaders(newFolder('rows')),
    ...(await datasetReaders(newFolder('datasets'))),
    ...modelReaders(newFolder('model')),
    ...(await checkpointReaders(newFolder('checkpoints'))),
    ...runReaders(newFolder('run')),
    ...labelReaders(newFolder('labels')),
  };
}

function weightReaders(): Record<string, Reader> {
  return {
    safetensors: {
      inputs: ['floats', 'other-dtypes', 'sharded/model-00001-of-00005'].map((name) =>
        fixture(`${name}.safetensors`),
      ),
      read: async (bytes) => {
        const source = new MemorySource(bytes);
        for (const info of (await readHeader(source)).tensors) {
          if (!isFloatDtype(info.dtype)) continue;
          const target = new Float32Array(countElements(info.shape));
          await readFloat32Into(source, { info, target });
        }
      },
    },
    'shard-index': {
      inputs: [fixture('sharded/model.safetensors.index.json')],
      read: (bytes) => readShardIndex(new MemorySource(bytes)),
    },
    blob: {
      inputs: [encodeBlob({ a: [1, Number.NaN], b: Float32Array.of(1, 2), c: { d: 'x' } })],
      read: decodeBlob,
    },
  };
}

function configReaders(folder: string): Record<string, Reader> {
  const values = {
    ...{ modelName: 'a/b', prompts: 'p.jsonl', reward: ['brevity:target=10', 'human=2'] },
    ...{ batchSize: 4, learningRate: 1e-5, klController: 'adaptive', chat: true, stop: ['\n'] },
    ...{ memory: '4GB', template: 'Q: {question}', loraTargetModules: ['q_proj'], seed: 1 },
  };
  const yaml = `# comment\nmodel: a/b\nprompts: p.jsonl\nreward:\n  - brevity:target=10\n  - &a human=2\nbatchSize: 4\nlearningRate: 1e-5\ntemplate: |\n  Q: {question}\nstop: ["\\n"]\n`;
  const reader = (file: string, text: string): Reader => ({
    inputs: [Buffer.from(text)],
    read: async (bytes) =>
      resolveRunConfig(parseConfigText(bytes.toString(), { file, shape: runConfigShape }) as never),
  });
  const path = join(folder, 'config.yaml');
  const readFile = async () => resolveRunConfig((await loadConfigFile(path)) as never);
  return {
    'config-json': reader('c.json', JSON.stringify(values)),
    'config-yaml': reader('c.yaml', yaml),
    'config-file': fileReader(path, yaml, readFile),
  };
}

/** Rows of JSON Lines in memory. */
async function readRowsInMemory(bytes: Buffer): Promise<void> {
  const options = { name: 'rows.jsonl', onRowError: throwRowError };
  const rows = parseJsonLines(decodeLines(streamOf(bytes), options), options);
  for await (const _ of rows);
}

async function* streamOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function rowReaders(folder: string): Record<string, Reader> {
  const rows = [
    { prompt: 'A cat, "Tom"', id: 1, messages: [{ role: 'user', content: 'Hi' }] },
    { prompt: 'Zwei\nHunde 🐕', id: 2, messages: [] },
  ];
  const parquet = parquetWriteBuffer({
    columnData: [
      { name: 'prompt', data: ['one', 'two', 'drei 🐕'], type: 'STRING' },
      { name: 'id', data: [1n, 2n, 2n ** 60n], type: 'INT64' },
      { name: 'messages', data: [[{ role: 'user' }], [], null], type: 'JSON' },
    ],
    rowGroupSize: 2,
  });
  const csv = '\ufeffprompt,id\r\n"A cat, ""Tom""",1\n\n"Zwei\nHunde 🐕",2\r\n,3';
  const files: Record<string, string | Uint8Array> = {
    ...{ jsonl: lines(rows), json: JSON.stringify({ data: rows }), csv, txt: 'one\r\n\ntwo\n' },
    ...{ tsv: csv.replaceAll(',', '\t'), 'jsonl.gz': gzipSync(lines(rows)) },
    parquet: new Uint8Array(parquet),
  };
  const memoryReader = { inputs: [Buffer.from(lines(rows))], read: readRowsInMemory };
  const fileReaders = Object.fromEntries(
    Object.entries(files).map(([extension, input]) => {
      const path = join(folder, `rows.${extension}`);
      return [extension, fileReader(path, input, () => readAllRows(path))];
    }),
  );
  return { 'jsonl-text': memoryReader, ...fileReaders };
}

async function datasetReaders(folder: string): Promise<Record<string, Reader>> {
  const tokenizer = await loadTokenizer(embeddedFolder);
  const at = (name: string) => join(folder, name);
  const chat = [{ role: 'user', content: 'my dog' }];
  const pairs = [
    { prompt: 'my dog', chosen: ' is sick', rejected: ' runs', margin: 1, label: 'chosen' },
    { prompt: 'the car', chosen: ' is new', rejected: ' is old' },
  ];
  const ranked = [{ prompt: 'a', completions: ['b', 'c', 'd'], ranking: [2, [0, 1]] }];
  const completions = [
    { prompt: 'my dog', completion: ' is sick' },
    { prompt: 'a', completion: 'b' },
  ];
  const scores = [{ prompt: 'a', response: 'b', score: 1 }];
  return {
    prompts: fileReader(at('p.jsonl'), lines([{ prompt: 'my dog' }, { prompt: chat }]), () =>
      loadPrompts(at('p.jsonl'), tokenizer, { contextLength: 192, maxNewTokens: 8 }),
    ),
    completions: fileReader(at('c.jsonl'), lines(completions), () =>
      loadCompletions(at('c.jsonl'), tokenizer, { contextLength: 192 }),
    ),
    preferences: fileReader(at('f.jsonl'), lines(pairs), () =>
      loadPreferences(at('f.jsonl'), tokenizer, { contextLength: 192 }),
    ),
    rankings: fileReader(at('r.jsonl'), lines(ranked), () =>
      loadPreferences(at('r.jsonl'), tokenizer, { contextLength: 192 }),
    ),
    'human-scores': fileReader(at('h.jsonl'), lines(scores), () => HumanSource.load(at('h.jsonl'))),
    'response-groups': fileReader(
      at('g.jsonl'),
      lines([{ prompt: 'a', responses: ['b', 'c'] }]),
      () => groupsFromFile(at('g.jsonl'), { name: 'g.jsonl', min: 2, max: 9 }),
    ),
  };
}

function modelReaders(folder: string): Record<string, Reader> {
  const at = (name: string) => join(folder, name);
  for (const part of ['tokenizer', 'special', 'template', 'config', 'adapter']) {
    writeTinyTokenizer(at(part));
  }
  const useTokenizer = (part: string) => async () => {
    const tokenizer = await loadTokenizer(at(part));
    tokenizer.decode(tokenizer.encode('the cat sees a bird'));
    tokenizer.applyChatTemplate([{ role: 'user', content: 'the cat' }], {
      addGenerationPrompt: true,
    });
  };
  const template =
    "{%- for m in messages %}{{ '<' + m['role'] + '>' }}{{ m.content | trim }}{% if not loop.last %}\n{% endif %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
  const adapter = {
    ...{ peft_type: 'LORA', r: 4, lora_alpha: 8, lora_dropout: 0, bias: 'none' },
    ...{ target_modules: ['q_proj'], task_type: 'CAUSAL_LM', base_model_name_or_path: 'a/b' },
  };
  const read = (name: string) => readFileSync(at(name));
  const embedded = (name: string) => readFileSync(join(embeddedFolder, name));
  return {
    tokenizer: fileReader(
      ...([at('tokenizer/tokenizer.json'), read('tokenizer/tokenizer.json')] as const),
      useTokenizer('tokenizer'),
    ),
    'special-tokens': fileReader(
      ...([at('special/tokenizer_config.json'), read('special/tokenizer_config.json')] as const),
      useTokenizer('special'),
    ),
    'chat-template': fileReader(
      ...([at('template/chat_template.jinja'), template] as const),
      useTokenizer('template'),
    ),
    'model-config': fileReader(at('config/config.json'), embedded('config.json'), () =>
      readConfig(at('config')),
    ),
    'adapter-config': fileReader(at('adapter/adapter_config.json'), JSON.stringify(adapter), () =>
      readPeftConfig(at('adapter')),
    ),
  };
}

async function checkpointReaders(folder: string): Promise<Record<string, Reader>> {
  const state = {
    ...{ step: 1, episodes: 4, evaluatedStep: -1, stop: null, metrics: { a: 1 }, totalSteps: 2 },
    ...{ epoch: { a: [1, 2] }, config: { seed: 1 }, training: { steps: 1 } },
  };
  const store = new CheckpointStore(folder, { keep: 2 });
  const write = async (path: string) =>
    writeFileSync(join(path, 'state.json'), JSON.stringify(state));
  const saved = await store.save(1, write, { isBest: true });
  cpSync(saved, join(folder, 'other'), { recursive: true });
  const [manifest, stateFile] = [join(saved, 'manifest.json'), join(folder, 'other/state.json')];
  return {
    manifest: fileReader(manifest, readFileSync(manifest), () => store.latest()),
    'loop-state': fileReader(stateFile, readFileSync(stateFile), () =>
      readLoopState(join(folder, 'other')),
    ),
  };
}

function runReaders(folder: string): Record<string, Reader> {
  const runs = ['state', 'config', 'logs', 'lock', 'workers', 'human', 'tail'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string, string, string, string];
  for (const run of runs) writeFakeRun(run, { steps: 3 });
  const [state, config, logs, lock, workers, human, tail] = runs;
  mkdirSync(join(human, 'human'));
  const time = '2026-01-31T12:00:00.000Z';
  const request = { id: 'a', step: 1, prompt: 'p', response: 'r', time };
  const score = { request: 'a', score: 1, labeller: 'me', time };
  const worker = { updatedAt: time, since: time, isConnected: true, workers: [] };
  const summarize = async (run: string) => {
    await new RunReader({ id: 'a', name: 'a', folder: run }).update();
    const tables = new RunTables(run);
    await tables.metrics({ points: 10 });
    await tables.samples({ search: 'a', sort: 'score' });
    await Promise.all([tables.evaluations(), tables.log()]);
  };
  const of = (run: string, name: string, read: () => unknown) =>
    fileReader(join(run, name), readFileSync(join(run, name)), read);
  return {
    'run-state': of(state, 'run.json', async () => {
      await summarize(state);
      await readRunState(state);
    }),
    'run-config': of(config, 'config.json', () => readRunConfig(config)),
    metrics: of(logs, 'metrics.jsonl', () => summarize(logs)),
    samples: of(logs, 'samples.jsonl', () => summarize(logs)),
    evaluations: of(logs, 'evaluations.jsonl', () => summarize(logs)),
    log: of(tail, 'log.jsonl', () => truncateLog(join(tail, 'log.jsonl'), 2)),
    lock: fileReader(join(lock, 'run.lock'), '{"pid":999999,"host":"a","id":"b"}', () =>
      expectUnlocked(lock),
    ),
    workers: fileReader(join(workers, 'workers.json'), JSON.stringify(worker), () =>
      readWorkersFile(join(workers, 'workers.json')),
    ),
    requests: fileReader(join(human, 'human/requests.jsonl'), lines([request]), () =>
      readHumanRequests(human),
    ),
    scores: fileReader(join(human, 'human/scores.jsonl'), lines([score]), () =>
      readHumanScores(human),
    ),
  };
}

function labelReaders(folder: string): Record<string, Reader> {
  const time = '2026-01-31T12:00:00.000Z';
  const source = { from: 'file', file: 'a.jsonl' };
  const header = { name: 'Test', kind: 'pair', source, createdAt: time };
  const responses = [
    { text: 'b', from: { place: 0 } },
    { text: 'c', from: { place: 1 } },
  ];
  const tasks = [{ id: '1', prompt: 'a', responses }];
  const pair = { kind: 'pair', choice: 1 } as const;
  const answers = [
    { task: '1', labeller: 'me', answer: pair, time, order: [0, 1] },
    { undo: '1', labeller: 'me', time },
  ];
  const files = { 'queue.json': JSON.stringify(header), 'tasks.jsonl': lines(tasks) };
  const queueReader = (name: keyof typeof files) => {
    const queue = join(folder, name.replace('.', '-'));
    mkdirSync(queue);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(queue, file), text);
    return fileReader(join(queue, name), files[name], () => readQueue(queue));
  };
  return {
    queue: queueReader('queue.json'),
    tasks: queueReader('tasks.jsonl'),
    answers: fileReader(answersPath(folder), lines(answers), () =>
      new AnswerLog(answersPath(folder), { kind: 'pair', tasks }).read(),
    ),
  };
}
