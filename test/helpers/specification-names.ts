import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The names in the specification's documents, as they start the rows of docs/specification.md.
 *  @param folder the documents as text files
 *  @example `def store(self, sa_pairs: List[Dict], …)` of `class ExperienceBuffer:` and the bullet
 *  `• Max Gradient Norm: 1.0`  →  ExperienceBuffer.store(sa_pairs, …), Max Gradient Norm */
export function readSpecificationNames(folder: string): string[] {
  const documents = readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const names = documents.flatMap((text) => [
    ...pythonBlocks(text).flatMap(pythonNames),
    ...treeFiles(text),
    ...interfaces(text),
    ...dataKeys(text),
    ...headedItems(text),
    ...boxedItems(text),
  ]);
  return [...new Set(names)].sort();
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)];

function pythonBlocks(text: string): string[] {
  return all(text, /^```python\n([\s\S]*?)^```/gm).map(([, code]) => code!);
}

/** Classes, their methods with parameters and their fields; keys of metrics; keyword arguments. */
function pythonNames(code: string): string[] {
  const classes = all(code, /^class (\w+).*:\n((?: .*\n|\n)*)/gm).flatMap(([, name, body]) => [
    name!,
    ...all(body!, /^ {4}def (\w+)\(self,? ?([^)]*)\)/gm).map(
      ([, method, list]) => `${name}.${method}(${parameters(list!)})`,
    ),
    ...all(body!, /^ {4}(\w+): \w+( = .*)?/gm).map(
      ([, field, standard = '']) => `${name}.${field}${standard.replaceAll('"', '')}`,
    ),
  ]);
  const keys = all(code, /\w+\['(\w+)'\]/g).map(([, key]) => key!);
  const calls = all(code, /\b(PPOTrainer|trainer\.train)\(([^)]*)\)/g).flatMap(([, callee, list]) =>
    all(list!, /(\w+)=/g).map(
      ([, argument]) => `${callee!.replace('trainer', 'PPOTrainer')}(${argument})`,
    ),
  );
  const callbacks = all(code, /^def (\w+)\(([^)]*)\)/gm).map(
    ([, name, list]) => `${name}(${parameters(list!)})`,
  );
  return [...classes, ...keys, ...calls, ...callbacks];
}

/** @example `prompts: List[str], num_epochs: int = 10`  →  `prompts, num_epochs` */
function parameters(list: string): string {
  return all(list.replaceAll(/\[[^\]]*\]/g, ''), /(?:^|,)\s*(\*{0,2}\w+)/g)
    .map(([, name]) => name!)
    .join(', ');
}

/** The files of the tree of components, and the program to start. */
function treeFiles(text: string): string[] {
  return all(text, /\s(\w+\.py)(?: +#|$)/gm).map(([, file]) => file!);
}

/** @example `• Generator.generate(prompts) → [GeneratedText, Logprobs]` */
function interfaces(text: string): string[] {
  const [, section = ''] = /^Key Interfaces:\n=+\n([\s\S]*)/m.exec(text) ?? [];
  return all(section, /^• (\w+\.\w+\([^)]*\)) → \[?([^\]\n]*)/gm).flatMap(([, call, results]) => [
    call!,
    ...results!.split(', '),
  ]);
}

/** Keys of the data in the diagram of components: `{state: …, action: …}` and `converged=False`. */
function dataKeys(text: string): string[] {
  const [, flow = ''] = /^Detailed Data Flow:\n=+\n([\s\S]*?)^Key Interfaces:/m.exec(text) ?? [];
  const lines = flow.replaceAll(/"[^"\n]*"?/g, '');
  return [
    ...all(lines, /[{,│]\s*(state|action|logprob_\w+):/g).map(([, key]) => key!),
    ...all(lines, /\b(\w+)=[\w[.]/g).map(([, key]) => key!),
  ];
}

/** The headings of the lists of formulas, metrics, parts and features; hyper-parameters with values. */
function headedItems(text: string): string[] {
  const item = /^(?:\d+\.|•| {3}-) (([^:\n]+)(?::.*)?)$/gm;
  return all(text, /^([A-Z][\w ]+):\n=+\n+([\s\S]*?)(?=^[A-Z][\w ]+:\n=+$|$(?![\s\S]))/gm).flatMap(
    ([, title, list]) => {
      if (!/Mathematical|Hyperparameters|Metrics|Details|Features/.test(title!)) return [];
      const items = all(list!, item).filter(([, line]) => !line!.endsWith(' LAYER'));
      return items.map(([, line, head]) =>
        (title!.endsWith('Hyperparameters') ? line! : head!).trim(),
      );
    },
  );
}

/** What each step of the training flow does. */
function boxedItems(text: string): string[] {
  if (!text.startsWith('MLX PPO Training Flow')) return [];
  return all(text, /│ • (.*?) *│/g).map(([, item]) => item!);
}
