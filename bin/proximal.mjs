#!/usr/bin/env node
// The command `proximal`: the built program, or in a clone the sources, so that no build is needed.
// Nothing that requires a new Node is imported before the version is checked.
import { existsSync, readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const required = engines.node.replace('>=', '');

if (isOlder(process.versions.node, required)) {
  process.stderr.write(
    `Cannot start proximal: it requires Node ${required} or newer, got ${process.versions.node}; install a newer Node\n`,
  );
  process.exit(1);
}

const sources = new URL('../src/cli/main.ts', import.meta.url);
const built = new URL('../dist/cli/main.js', import.meta.url);
const isClone = existsSync(sources);
const tsx = isClone ? await importTsx() : undefined;

if (tsx !== undefined) {
  tsx.register();
  await import(sources.href);
} else if (existsSync(built)) {
  await import(built.href);
} else {
  const problem = isClone
    ? 'a clone must have its dependencies, got none; run "npm ci" in it'
    : 'the package must be built, got no dist folder; run "npm run build" and pack it again';
  process.stderr.write(`Cannot start proximal: ${problem}\n`);
  process.exit(1);
}

/** tsx, which runs TypeScript; undefined without development dependencies. */
async function importTsx() {
  try {
    return await import('tsx/esm/api');
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Whether a version such as 18.20.8 is older than one such as 20.19. */
function isOlder(version, than) {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number));
  const i = b.findIndex((part, at) => part !== a[at]);
  return i >= 0 && a[i] < b[i];
}
