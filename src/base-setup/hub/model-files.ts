/** Small files that a model may have beside config.json. */
const optionalNames = [
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
];

export const indexName = 'model.safetensors.index.json';

/** The files of a repository that make a model, in the order of download: with the last one there,
 *  all are, so that an interrupted download never looks complete.
 *  @example ['model.safetensors', 'pytorch_model.bin', 'config.json', 'README.md']
 *    →  ['config.json', 'model.safetensors'] */
export function selectModelFiles(names: readonly string[]): string[] {
  const small = ['config.json', ...optionalNames].filter((name) => names.includes(name));
  return [...small, ...selectWeights(names)];
}

/** One file goes before shards, as in transformers; a repository may hold the weights in both
 *  forms and once more as `consolidated.safetensors`, each of the full size. */
function selectWeights(names: readonly string[]): string[] {
  if (names.includes('model.safetensors')) return ['model.safetensors'];
  const all = names.filter((name) => /^[^/]+\.safetensors$/.test(name)).sort();
  if (!names.includes(indexName)) return all;
  const shards = all.filter((name) => /^model-\d+-of-\d+\./.test(name));
  return [indexName, ...(shards.length > 0 ? shards : all)];
}
