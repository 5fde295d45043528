import { resolve } from 'node:path';
import { type ResolveModelOptions, resolveModel } from '../base-setup/hub/index.ts';
import { chooseBasePrecision } from '../models/decoder/base-precision.ts';
import { type ModelHeader, readModelHeader } from '../models/decoder/load-model.ts';
import { type LoadedModel, type LoadModelOptions, loadModel } from '../models/index.ts';
import { formatBytes, formatSeconds, shortPath } from './format.ts';
import { StatusLine } from './status-line.ts';
import { dim, type Output, progressBar, showStatus, stripControls } from './terminal.ts';

interface ModelName {
  readonly modelName: string;
  readonly revision?: string | undefined;
}

/** Loads a model and shows the progress of a download. */
export async function loadWithProgress({
  basePrecision,
  device,
  ...model
}: ModelName & Pick<LoadModelOptions, 'basePrecision' | 'device'>): Promise<LoadedModel> {
  const { modelName } = model;
  const folder = await resolveWithProgress(model);
  const chosen = basePrecision === 'auto' ? await chooseBasePrecision() : undefined;
  if (chosen !== undefined) printFound(chosen);
  const hideStatus = showStatus(`Loading ${shortPath(modelName)}`);
  const name = nameOf(modelName, folder);
  const precision = chosen?.precision ?? basePrecision;
  return loadModel(folder, { name, basePrecision: precision, device }).finally(hideStatus);
}

/** Reads the header of a model and shows the progress of a download. */
export async function readHeaderWithProgress(model: ModelName): Promise<ModelHeader> {
  const folder = await resolveWithProgress(model);
  return readModelHeader(folder, { name: nameOf(model.modelName, folder) });
}

/** Adapters name their base by its hub id, not by the folder of this machine's cache. */
function nameOf(modelName: string, folder: string): string {
  return resolve(modelName) === folder ? folder : modelName;
}

/** Finds a model's folder and shows the progress of a download. */
export async function resolveWithProgress({ modelName, revision }: ModelName): Promise<string> {
  const download = new DownloadProgress();
  const options: ResolveModelOptions = {
    ...(revision !== undefined && { revision }),
    onProgress: ({ file, receivedBytesOfAll, totalBytesOfAll }) =>
      download.update({
        label: stripControls(file),
        receivedBytes: receivedBytesOfAll,
        totalBytes: totalBytesOfAll,
      }),
  };
  try {
    const folder = await resolveModel(modelName, options);
    download.finish();
    return folder;
  } finally {
    download.clear();
  }
}

export interface DownloadProgressOptions {
  /** Standard error by default. */
  readonly output?: Output;
  /** The time in milliseconds. */
  readonly now?: () => number;
}

interface Received {
  readonly label: string;
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

const MAX_BAR = 24;
const MIN_BAR = 4;
/** Milliseconds between writes: a terminal's line changes, elsewhere lines are added. */
const INTERVAL = { terminal: 100, plain: 10_000 };

/** Shows the progress of a download: one changing line on a terminal, elsewhere a line every 10 s.
 *  @example model.safetensors ━━━━━━━━━━━━──────────── 50 %  596 MB of 1.19 GB  25.0 MB/s  24 s left */
export class DownloadProgress {
  private readonly output: Output;
  private readonly line: StatusLine;
  private readonly now: () => number;
  private first: { readonly time: number; readonly bytes: number } | undefined;
  private last: Received | undefined;
  private writtenAt = Number.NEGATIVE_INFINITY;

  constructor({
    output = process.stderr,
    now = () => performance.now(),
  }: DownloadProgressOptions = {}) {
    this.output = output;
    this.line = new StatusLine(output);
    this.now = now;
  }

  update(received: Received): void {
    const time = this.now();
    this.first ??= { time, bytes: received.receivedBytes };
    this.last = received;
    const interval = this.output.isTTY ? INTERVAL.terminal : INTERVAL.plain;
    if (time - this.writtenAt < interval) return;
    this.writtenAt = time;
    this.write(received, time);
  }

  /** Replaces the changing line with a plain one. */
  finish(): void {
    this.clear();
    if (this.first === undefined || this.last === undefined) return;
    const seconds = (this.now() - this.first.time) / 1000;
    const text = `Downloaded ${formatBytes(this.last.receivedBytes)} in ${formatSeconds(seconds)}`;
    this.output.write(`${dim(text, this.output)}\n`);
  }

  /** Removes the changing line. */
  clear(): void {
    this.line.clear();
  }

  private write(received: Received, time: number): void {
    const { label, receivedBytes, totalBytes } = received;
    const fraction = totalBytes === 0 ? 1 : receivedBytes / totalBytes;
    const amount = `${formatBytes(receivedBytes)} of ${formatBytes(totalBytes)}`;
    const percent = `${Math.floor(100 * fraction)} %`.padStart(6);
    const rest = [percent, amount, ...this.describeSpeed(received, time)].join('  ');
    if (!this.output.isTTY) {
      this.output.write(`${label} ${rest.trimStart()}\n`);
      return;
    }
    const room = this.line.width - label.length - rest.length - 1;
    const bar = room < MIN_BAR ? '' : progressBar(fraction, Math.min(room, MAX_BAR));
    this.line.show(`${label} ${bar}${rest}`.slice(0, this.line.width));
  }

  /** Speed since the first update and the time left; nothing in the first half second. */
  private describeSpeed({ receivedBytes, totalBytes }: Received, time: number): string[] {
    if (this.first === undefined || time - this.first.time < 500) return [];
    const speed = (1000 * (receivedBytes - this.first.bytes)) / (time - this.first.time);
    if (speed <= 0) return [];
    const left = (totalBytes - receivedBytes) / speed;
    return [`${formatBytes(speed)}/s`, `${formatSeconds(left)} left`];
  }
}

/** Prints what was found at the place of a model, or what was chosen for it, on standard error. */
export function printFound({ message }: { readonly message: string | undefined }): void {
  if (message !== undefined) process.stderr.write(`${dim(message, process.stderr)}\n`);
}
