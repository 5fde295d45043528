/** How positions become rotation angles (arXiv:2104.09864), by Hugging Face's names. */
export interface RopeConfig {
  readonly rope_theta: number;
  readonly rope_type: 'default' | 'linear' | 'llama3';
  readonly factor: number;
  readonly low_freq_factor: number;
  readonly high_freq_factor: number;
  readonly original_max_position_embeddings: number;
}

/** The configuration that all families share, by Hugging Face's names. */
export interface DecoderConfig {
  readonly model_type: string;
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly norm_eps: number;
  readonly max_position_embeddings: number;
  readonly tie_word_embeddings: boolean;
  readonly attention_bias: boolean;
  readonly mlp_bias: boolean;
  /** Fraction of the embeddings' numbers that is dropped while all weights are trained. */
  readonly embd_pdrop: number;
  /** The same for what attention and MLP add to the hidden states. */
  readonly resid_pdrop: number;
  /** Missing if positions are learned embeddings. */
  readonly rope: RopeConfig | undefined;
}

/** Far more layers than any model has. */
const MAX_LAYERS = 10_000;

/** The fields of a config.json, read with a clear error for each that is missing or has the wrong type. */
export class ConfigReader {
  private readonly json: Readonly<Record<string, unknown>>;
  private readonly source: string;

  constructor(json: Readonly<Record<string, unknown>>, source = 'config.json') {
    this.json = json;
    this.source = source;
  }

  number(key: string, fallback?: number): number {
    return this.read(key, 'number', fallback);
  }

  /** A whole number ≥ 1. */
  size(key: string, fallback?: number): number {
    const value = this.number(key, fallback);
    if (!Number.isSafeInteger(value) || value < 1)
      throw this.wrong(key, 'a whole number ≥ 1', value);
    return value;
  }

  /** The number of layers. All of their weights are listed before any is read. */
  layers(key: string): number {
    const value = this.size(key);
    if (value > MAX_LAYERS) throw this.wrong(key, `at most ${MAX_LAYERS}`, value);
    return value;
  }

  /** The fraction of numbers that dropout drops. */
  dropout(key: string, fallback: number): number {
    const value = this.number(key, fallback);
    if (!(value >= 0 && value < 1)) throw this.wrong(key, 'a number ≥ 0 and < 1', value);
    return value;
  }

  /** Throws if a field would change the computation: it must be missing or have this value. */
  expect(key: string, value: boolean | string): void {
    if ((this.json[key] ?? value) !== value) throw this.wrong(key, JSON.stringify(value));
  }

  boolean(key: string, fallback?: boolean): boolean {
    return this.read(key, 'boolean', fallback);
  }

  string(key: string, fallback?: string): string {
    return this.read(key, 'string', fallback);
  }

  /** A nested object, or undefined if it is missing or null. */
  object(key: string): ConfigReader | undefined {
    const value = this.json[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'object') throw this.wrong(key, 'an object');
    return new ConfigReader(value as Record<string, unknown>, `${this.source} "${key}"`);
  }

  private read<T extends number | boolean | string>(key: string, kind: string, fallback?: T): T {
    const value = this.json[key] ?? fallback;
    if (typeof value !== kind) throw this.wrong(key, `a ${kind}`);
    return value as T;
  }

  wrong(key: string, rule: string, value = this.json[key]): TypeError {
    const got = value === undefined ? 'nothing' : JSON.stringify(value);
    return new TypeError(`Cannot read ${this.source}: "${key}" must be ${rule}, got ${got}`);
  }
}
