/** Counts that need the syntax tree: loops and mappings by documented patterns, and exports. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { SourceFile } from './source-files.ts';

/** Where each pattern matches, as `path:line function`. */
export interface PatternPlaces {
  readonly layerLoops: readonly string[];
  readonly trainLoops: readonly string[];
  readonly stateToRowMappings: readonly string[];
  readonly generateAndGatherLoops: readonly string[];
}

/** What each pattern counts; printed next to the places. */
export const patternMeanings: Readonly<Record<keyof PatternPlaces, string>> = {
  layerLoops: 'loops that await a `.run(…)` and mention layers: forward and backward passes',
  trainLoops: 'loops that await a step, and evaluate or save between steps',
  stateToRowMappings:
    'functions that find the row of the state before a response: the length of a prompt − 1',
  generateAndGatherLoops:
    '`for await` loops that collect the finished texts of a generator in a list',
};

/** Finds the places of all patterns in source files. */
export function findPatterns(files: readonly SourceFile[]): PatternPlaces {
  const places = {
    layerLoops: [] as string[],
    trainLoops: [] as string[],
    stateToRowMappings: new Set<string>(),
    generateAndGatherLoops: [] as string[],
  };
  for (const { path, text } of files) {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    visit(source, (node) => {
      const place = () => placeOf(source, node);
      if (isLoop(node)) {
        if (isLayerLoop(node)) places.layerLoops.push(place());
        if (isTrainLoop(node)) places.trainLoops.push(place());
        if (isGatherLoop(node)) places.generateAndGatherLoops.push(place());
      }
      if (isLastPlaceOfPrompt(node)) places.stateToRowMappings.add(`${path} ${functionName(node)}`);
    });
  }
  return { ...places, stateToRowMappings: [...places.stateToRowMappings] };
}

function isLayerLoop(loop: ts.IterationStatement): boolean {
  const runs = calls(loop).some(
    (call) => ts.isAwaitExpression(call.parent) && nameOf(call) === 'run',
  );
  return runs && /\blayers?\b|layer[A-Z]|Layers?\b|num_hidden_layers/.test(loop.getText());
}

function isTrainLoop(loop: ts.IterationStatement): boolean {
  const names = calls(loop)
    .filter((call) => ts.isAwaitExpression(call.parent))
    .map(nameOf);
  const steps = names.some((name) => /step$/i.test(name));
  return steps && names.some((name) => /^(evaluate|validate|save|checkpoint)/i.test(name));
}

function isGatherLoop(loop: ts.IterationStatement): boolean {
  if (!ts.isForOfStatement(loop) || loop.awaitModifier === undefined) return false;
  const body = loop.statement.getText();
  const readsFinished = /\bfinished\b/.test(loop.getText());
  return readsFinished && /\.push\(|\w\[[^\]]+\]!? = /.test(body);
}

/** `promptTokens.length - 1` and the like. */
function isLastPlaceOfPrompt(node: ts.Node): boolean {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.MinusToken)
    return false;
  const length = node.left.getText();
  return node.right.getText() === '1' && /prompt/i.test(length) && /length\w*$/i.test(length);
}

function isLoop(node: ts.Node): node is ts.IterationStatement {
  return ts.isIterationStatement(node, false);
}

/** Calls of a loop itself, without those in functions that it only defines. */
function calls(loop: ts.Node): ts.CallExpression[] {
  const found: ts.CallExpression[] = [];
  const walk = (node: ts.Node) => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isCallExpression(node)) found.push(node);
    ts.forEachChild(node, walk);
  };
  ts.forEachChild(loop, walk);
  return found;
}

function nameOf({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
}

function visit(node: ts.Node, take: (node: ts.Node) => void): void {
  take(node);
  ts.forEachChild(node, (child) => visit(child, take));
}

function placeOf(source: ts.SourceFile, node: ts.Node): string {
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return `${source.fileName}:${line + 1} ${functionName(node)}`;
}

/** The nearest named function, method or class around a node. */
function functionName(node: ts.Node): string {
  for (let at: ts.Node | undefined = node; at !== undefined; at = at.parent) {
    if ((ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at)) && at.name)
      return at.name.getText();
    if (ts.isVariableDeclaration(at) && at.initializer && ts.isFunctionLike(at.initializer))
      return at.name.getText();
  }
  return '(module)';
}

export interface EntryExports {
  readonly values: number;
  readonly types: number;
  /** Values and types inside exported namespaces (`export * as graph`), one level deep. */
  readonly inNamespaces: number;
}

/** Exports of every entry of package.json, by name: `.`, `./engine`. */
export function countExports(tree: string): Record<string, EntryExports> {
  const { exports = {} } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8'));
  const entries = Object.entries(exports as Record<string, string | { default?: string }>)
    .map(([name, target]) => [name, sourceOf(typeof target === 'string' ? target : target.default)])
    .filter((entry): entry is [string, string] => {
      return entry[1] !== undefined && existsSync(join(tree, entry[1]));
    });
  const configPath = join(tree, 'tsconfig.json');
  const { config } = ts.readConfigFile(configPath, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, tree);
  const program = ts.createProgram(
    entries.map(([, path]) => join(tree, path)),
    { ...options, noEmit: true },
  );
  const checker = program.getTypeChecker();
  return Object.fromEntries(
    entries.map(([name, path]) => {
      const source = program.getSourceFile(join(tree, path))!;
      const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);
      return [name, countSymbols(symbols, checker)];
    }),
  );
}

function countSymbols(symbols: readonly ts.Symbol[], checker: ts.TypeChecker): EntryExports {
  const targets = symbols.map((symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  );
  const values = targets.filter(({ flags }) => flags & ts.SymbolFlags.Value);
  const namespaces = targets.filter(({ flags }) => flags & ts.SymbolFlags.ValueModule);
  return {
    values: values.length,
    types: targets.length - values.length,
    inNamespaces: namespaces.flatMap((symbol) => checker.getExportsOfModule(symbol)).length,
  };
}

/** The source of a built file: ./dist/index.js is built from src/index.ts. */
function sourceOf(target: string | undefined): string | undefined {
  const built = target?.match(/^\.\/dist\/(.+)\.js$/)?.[1];
  return built === undefined ? undefined : join('src', `${built}.ts`);
}
