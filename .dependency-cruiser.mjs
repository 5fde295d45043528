/** The folders of src, lowest first. Each row may import itself and every row above it or, if it has
 *  `only`, itself and those. Tests may import anything. */
const rows = [
  { path: 'version.ts' },
  { path: 'fs', only: [] },
  { path: 'engine/graph', only: [] },
  { path: 'engine/hash', only: [] },
  { path: 'engine/optim', only: [] },
  { path: 'engine/random', only: ['engine/hash'] },
  { path: 'engine/onnx', only: ['engine/graph'] },
  { path: 'engine/runtime', only: ['engine/graph', 'engine/hash', 'engine/onnx'] },
  { path: 'engine', only: [] },
  { path: 'columns', only: [] },
  { path: 'http', only: ['engine/random'] },
  { path: 'config' },
  { path: 'base-setup' },
  { path: 'models/decoder' },
  { path: 'generation' },
  { path: 'models' },
  { path: 'environments', only: ['columns', 'engine/hash', 'base-setup', 'generation'] },
  { path: 'data', only: ['fs', 'config', 'base-setup', 'engine/random'] },
  { path: 'loop', only: ['fs', 'columns', 'config', 'base-setup', 'data', 'engine/optim'] },
  { path: 'token-attribution|reward-kl|advantage|experience-buffer|training' },
  { path: 'rollout-server' },
  { path: 'embedded', only: ['fs', 'config', 'base-setup', 'engine/random'] },
  { path: 'ppo-trainer|stages' },
  { path: 'web' },
  { path: 'queue' },
  { path: 'run' },
  { path: 'demo' },
  { path: 'dashboard' },
  { path: 'playground' },
  { path: 'index.ts|components.ts' },
  { path: 'cli' },
];

const inside = (...paths) => `^src/(${paths.join('|')})(/|$)`;

const directions = rows.map(({ path, only }, row) => ({
  name: `direction: ${path}`,
  severity: 'error',
  from: { path: inside(path), pathNot: '\\.test\\.ts$' },
  to: {
    path: '^(src|test|bench|tools)/',
    pathNot: inside(path, ...(only ?? rows.slice(0, row).map((above) => above.path))),
  },
}));

export default {
  forbidden: [
    ...directions,
    {
      name: 'ONNX Runtime only in engine/runtime/backends and web/web-backend.ts',
      severity: 'error',
      // The benchmark compares a session behind the interface with one called directly.
      from: {
        pathNot: `${inside('engine/runtime/backends', 'web/web-backend.ts')}|^bench/backends\\.ts$`,
      },
      to: { path: '(^|/)onnxruntime-(node|web|common)(/|$)' },
    },
    {
      name: 'no Node API in the engine except its backend for Node',
      severity: 'error',
      from: { path: inside('engine'), pathNot: '\\.test\\.ts$|/node-runtime\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: { doNotFollow: { path: 'node_modules' }, tsPreCompilationDeps: true },
};
