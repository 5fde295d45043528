import { availableParallelism, freemem } from 'node:os';
import { resolvePPOConfig } from '../src/config/ppo-config.ts';
import { alternate, printUpdate } from './alternate.ts';
import { comparePeers, medianUpdate, type PeerFacts } from './comparison.ts';
import { type BenchOptions, round } from './measure.ts';
import { hasTrl, PEERS, type PeerName, peerCommand } from './peer.ts';
import { type CaseProcess, startCase } from './ppo-step/case-process.ts';
import { type CaseName, type CaseRequest, layerRange, stepCases } from './ppo-step/cases.ts';
import { qwen3Architecture } from './qwen3.ts';
import { UpdateProcess } from './update-process.ts';

const ROUNDS = 3;
/** Memory that peers leave to the system. */
const RESERVE_MB = 1000;

/** Whole PPO updates at Qwen3-0.6B's shape; with a Python, alternately the same work in torch and TRL.
 *  The default case is at the top level, the others are in `cases`. */
export async function benchPpoStep(options: BenchOptions): Promise<object> {
  if (options.case !== undefined) return measureCase(options.case, options);
  const { default: first, ...others } = stepCases;
  const result = await measureCase('default', options);
  const cases: Record<string, object> = {};
  for (const name of Object.keys(others) as CaseName[]) {
    cases[name] = await measureCase(name, options);
  }
  return { ...result, cases };
}

async function measureCase(name: CaseName, options: BenchOptions): Promise<object> {
  const { python, rounds = ROUNDS, contended = false, quiet = false } = options;
  const { basePrecision, loraLayers, size = '0.6B' } = options;
  const { maxNewTokens } = stepCases[name];
  const { rolloutPrecision } = resolvePPOConfig({ basePrecision, maxNewTokens });
  const { precision = rolloutPrecision } = options;
  const settings = { threads: availableParallelism(), precision, basePrecision, loraLayers };
  const request = { ...stepCases[name], ...settings, size };
  const layers = qwen3Architecture({ size }).config.num_hidden_layers;
  const loraRange = loraLayers === undefined ? undefined : layerRange(loraLayers, layers);
  if (python !== undefined && size !== '0.6B') {
    throw new TypeError(`Cannot measure peers: --size must be 0.6B with --peer, got ${size}`);
  }
  const peers = python === undefined ? [] : choosePeers(python, options.peers);
  const own = await startCase(request);
  try {
    const { runs, own: updates } = await alternate(own, {
      ...{ peers, rounds, contended, quiet, onUpdate: printUpdate },
      start: (peer) => startPeer(own, { peer, python: python!, request, loraRange }),
    });
    const result = await own.finish();
    const { seconds, phases } = medianUpdate(updates);
    const tokens = result.responses.reduce((a, b) => a + b);
    return {
      ...{ seconds, phases, tokens_per_second: round(tokens / seconds, 1), ...result },
      ...(peers.length > 0 && comparePeers(result.peak_rss_mb, runs)),
      ...{ case: name, rounds, contended, quiet, threads: request.threads, precision },
      ...(basePrecision !== undefined && { base_precision: basePrecision }),
      ...{ size, ...(loraRange !== undefined && { lora_layers: loraRange }) },
    };
  } finally {
    own.stop();
  }
}

function choosePeers(python: string, chosen: BenchOptions['peers']): readonly PeerName[] {
  const trl = hasTrl(python);
  if (chosen?.includes('trl') && !trl) {
    throw new Error(
      `Cannot measure trl: ${python} must have a TRL with trl.experimental.ppo; install trl 1.12`,
    );
  }
  return chosen ?? PEERS.filter((name) => name !== 'trl' || trl);
}

interface PeerOptions {
  readonly peer: PeerName;
  readonly python: string;
  readonly request: CaseRequest;
  /** The first and the last layer with adapters; all if missing. */
  readonly loraRange: readonly [number, number] | undefined;
}

/** Starts a peer on texts of the same lengths as ours. */
function startPeer(
  own: CaseProcess,
  { peer, python, request, loraRange }: PeerOptions,
): Promise<UpdateProcess<object, PeerFacts>> {
  const { prompts, samples, epochs, threads } = request;
  const { responses, rss_mb, peak_rss_mb } = own.ready;
  const growth = Math.max(0, peak_rss_mb - rss_mb);
  const peerRequest = {
    ...{ prompts, samples, epochs, threads, responses },
    memory_mb: Math.floor(freemem() / 2 ** 20 - growth - RESERVE_MB),
    dtype: peer === 'torch_bf16' ? 'bfloat16' : 'float32',
    ...(loraRange !== undefined && { lora_layers: loraRange }),
  };
  const script = peer === 'trl' ? 'ppo_step_trl.py' : 'ppo_step.py';
  return UpdateProcess.start(peer, peerCommand(python, script, peerRequest));
}
