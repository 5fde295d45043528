import { parseJsonObject } from '../../fs/parse-json.ts';
import type { DecoderConfig } from './decoder.ts';
import type { PreTokenizerConfig } from './fix-pre-tokenizer.ts';

/** A token as written in the files. */
export type NamedToken = string | { readonly content: string };

export interface AddedTokenConfig {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
}

/** The fields of a tokenizer.json that are used here. */
interface TokenizerJson {
  readonly added_tokens: readonly AddedTokenConfig[];
  readonly decoder: DecoderConfig | null;
  readonly pre_tokenizer?: PreTokenizerConfig | null;
  readonly model: object;
}

/** The tokens with a role. */
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

/** The fields of a tokenizer_config.json that are used here. */
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

/** All files in a model's folder that concern its tokenizer. */
export interface TokenizerFiles {
  readonly tokenizer: TokenizerJson;
  /** special_tokens_map.json, overridden by tokenizer_config.json. */
  readonly config: TokenizerConfig;
  readonly model: TokenIds;
  readonly generation: TokenIds;
  /** chat_template.jinja. */
  readonly chatTemplate: string | undefined;
}

/** The text of a model's file, or undefined if there is no such file. */
export type ReadModelText = (name: string) => Promise<string | undefined>;

/** Reads the files; only tokenizer.json is required.
 *  @param where folder or address of the files, for errors */
export async function readTokenizerFiles(
  readText: ReadModelText,
  where: string,
): Promise<TokenizerFiles> {
  const read = async <T>(name: string) => {
    const text = await readText(name);
    return text === undefined ? undefined : (parseJsonObject(text, joinName(where, name)) as T);
  };
  const tokenizer = await read<TokenizerJson>('tokenizer.json');
  if (tokenizer === undefined) {
    throw new Error(
      `Cannot load a tokenizer from ${where}: it must contain tokenizer.json, got none; save it with a fast tokenizer of transformers`,
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
    chatTemplate: await readText('chat_template.jinja'),
  };
}

/** A file's name with its folder or address.
 *  @example 'models/tiny/', 'config.json'  →  'models/tiny/config.json' */
export function joinName(where: string, name: string): string {
  return `${where.replace(/[\\/]$/, '')}/${name}`;
}
