import { join } from 'node:path';
import { parseJsonObject, readTextIfExists } from '../../fs/index.ts';
import type { DecoderConfig } from './make-decoder.ts';
import type { PreTokenizerConfig } from './mend-pre-tokenizer.ts';

/** A token as the files name it. */
export type NamedToken = string | { readonly content: string };

export interface AddedTokenConfig {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
}

/** What a tokenizer.json holds, as far as it is read here. */
interface TokenizerJson {
  readonly added_tokens: readonly AddedTokenConfig[];
  readonly decoder: DecoderConfig | null;
  readonly pre_tokenizer?: PreTokenizerConfig | null;
  readonly model: object;
}

/** The tokens that have a role. */
export const namedTokens = [
  'bos_token',
  'eos_token',
  'unk_token',
  'pad_token',
  'sep_token',
  'cls_token',
  'mask_token',
] as const;
export type TokenRole = (typeof namedTokens)[number];

type TokenRoles = { readonly [Role in TokenRole]?: NamedToken | null };
type TokenList = readonly NamedToken[] | Readonly<Record<string, NamedToken>>;

/** What a tokenizer_config.json holds, as far as it is read here. */
export interface TokenizerConfig extends TokenRoles {
  readonly additional_special_tokens?: TokenList | null;
  readonly extra_special_tokens?: TokenList | null;
  readonly added_tokens_decoder?: Readonly<Record<string, Omit<AddedTokenConfig, 'id'>>>;
  readonly chat_template?: string | readonly { readonly name: string; readonly template: string }[];
}

/** Ids in a config.json or generation_config.json. */
export interface TokenIds {
  readonly bos_token_id?: number | null;
  readonly eos_token_id?: number | readonly number[] | null;
  readonly pad_token_id?: number | null;
  readonly vocab_size?: number;
}

/** All files of a model's folder that concern its tokenizer. */
export interface TokenizerFiles {
  readonly tokenizer: TokenizerJson;
  /** tokenizer_config.json over special_tokens_map.json. */
  readonly config: TokenizerConfig;
  readonly model: TokenIds;
  readonly generation: TokenIds;
  /** chat_template.jinja. */
  readonly chatTemplate: string | undefined;
}

/** Reads the files; only tokenizer.json must be there. */
export async function readTokenizerFiles(folder: string): Promise<TokenizerFiles> {
  const read = <T>(name: string) => readJson<T>(join(folder, name));
  const tokenizer = await read<TokenizerJson>('tokenizer.json');
  if (tokenizer === undefined) {
    throw new Error(
      `Cannot load a tokenizer from ${folder}: it must hold tokenizer.json, got none; save it with a fast tokenizer of transformers`,
    );
  }
  return {
    tokenizer,
    config: {
      ...(await read<TokenizerConfig>('special_tokens_map.json')),
      ...(await read<TokenizerConfig>('tokenizer_config.json')),
    },
    model: (await read<TokenIds>('config.json')) ?? {},
    generation: (await read<TokenIds>('generation_config.json')) ?? {},
    chatTemplate: await readTextIfExists(join(folder, 'chat_template.jinja')),
  };
}

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readTextIfExists(file);
  return text === undefined ? undefined : (parseJsonObject(text, file) as T);
}
