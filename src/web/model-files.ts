import { SafetensorsReader } from '../base-setup/safetensors/reader.ts';
import { createTokenizer } from '../base-setup/tokenizer/tokenizer.ts';
import { joinName, readTokenizerFiles } from '../base-setup/tokenizer/tokenizer-files.ts';
import { parseJsonObject } from '../fs/parse-json.ts';
import { type Architecture, readArchitecture } from '../models/decoder/families/index.ts';
import type { LoadedModel } from '../models/decoder/load-model.ts';
import {
  expectMatchingVocabulary,
  type ReadBaseOptions,
  readBase,
} from '../models/decoder/read-base.ts';

/** The files of a Hugging Face model in memory, by their names. */
export type ModelFiles = Readonly<Record<string, Uint8Array>>;

const weightsName = 'model.safetensors';
const required = ['config.json', 'tokenizer.json', weightsName] as const;
const optional = [
  'tokenizer_config.json',
  'special_tokens_map.json',
  'generation_config.json',
  'chat_template.jinja',
] as const;

/** Loads a model from its files in memory: config.json, tokenizer.json, model.safetensors and, if
 *  present, the other files of its tokenizer. */
export async function modelFromFiles(
  files: ModelFiles,
  { name, ...options }: ReadBaseOptions & { readonly name: string },
): Promise<LoadedModel> {
  const text = async (file: string) => {
    const bytes = files[file];
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  const missing = required.find((file) => files[file] === undefined);
  if (missing !== undefined) {
    throw new Error(
      `Cannot load the model ${name}: its files must contain ${missing}, got ${Object.keys(files).join(', ') || 'none'}`,
    );
  }
  const config = joinName(name, 'config.json');
  const json = parseJsonObject((await text('config.json'))!, config);
  const architecture: Architecture = readArchitecture(json, config);
  const tokenizer = createTokenizer(await readTokenizerFiles(text, name), { where: name });
  const { vocab_size: rows } = architecture.config;
  expectMatchingVocabulary(name, { tokens: tokenizer.vocabSize, rows });
  const reader = await SafetensorsReader.fromBytes(
    files[weightsName]!,
    joinName(name, weightsName),
  );
  const base = await readBase(reader, architecture, { name, ...options });
  return { base, tokenizer, folder: name, name };
}

/** How a model is fetched. */
export interface FetchModelOptions {
  /** Names of the files to fetch; by default the required ones and all optional ones that exist. */
  readonly files?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives the number of bytes that have arrived. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** Fetches the files of a model from a folder on a web server. */
export async function fetchModelFiles(
  url: string,
  { files = [...required, ...optional], signal, onProgress }: FetchModelOptions = {},
): Promise<ModelFiles> {
  let done = 0;
  const entries = await Promise.all(
    files.map(async (file) => {
      const address = joinName(url, file);
      const isOptional = (optional as readonly string[]).includes(file);
      const response = await fetchFile(address, { isOptional, signal });
      if (response === undefined) return undefined;
      const bytes = await readBytes(response, (count) => {
        done += count;
        onProgress?.(done);
      });
      return [file, bytes] as const;
    }),
  );
  return Object.fromEntries(entries.filter((entry) => entry !== undefined));
}

async function fetchFile(
  address: string,
  {
    isOptional,
    signal,
  }: { readonly isOptional: boolean; readonly signal: AbortSignal | undefined },
): Promise<Response | undefined> {
  const response = await fetch(address, { ...(signal && { signal }) }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new Error(
      `Cannot fetch ${address}: the server must respond, got no response; check the connection`,
      { cause },
    );
  });
  if (response.ok) return response;
  if (isOptional && response.status === 404) return undefined;
  throw new Error(
    `Cannot fetch ${address}: the server must respond with status 200, got ${response.status}`,
  );
}

async function readBytes(
  response: Response,
  onBytes: (count: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body!.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    onBytes(value.length);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
