import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { alternate, printUpdate } from './alternate.ts';
import { comparePeers, medianUpdate } from './comparison.ts';
import { type BenchOptions, round } from './measure.ts';
import { peerCommand } from './peer.ts';
import { UpdateProcess } from './update-process.ts';

const ROUNDS = 25;

/** The shape of one update: a policy over the embedded model, each sequence with its own prompt. */
export interface SmallShape {
  readonly sequences: number;
  readonly prompt_tokens: number;
  readonly response_tokens: number;
}

/** As in the demo: posts of about 68 tokens with summaries of up to 48. */
const shape: SmallShape = { sequences: 16, prompt_tokens: 68, response_tokens: 48 };

/** Updates of the policy at the embedded model's shape, with LoRA on all linears: forward, backward and
 *  AdamW; with a Python, alternately the same work in torch + PEFT. `update_ratio` is the time of the
 *  fastest peer over ours. */
export async function benchSmallUpdate(options: BenchOptions): Promise<object> {
  const { python, rounds = ROUNDS, contended = false, quiet = false } = options;
  const peers = python === undefined ? [] : (options.peers ?? ['torch']);
  if (peers.includes('trl')) {
    throw new TypeError('Cannot use --peers: small-update runs torch and torch_bf16, got "trl"');
  }
  const threads = availableParallelism();
  const script = fileURLToPath(new URL('./small-update/run-updates.ts', import.meta.url));
  const node = [process.execPath, '--import', 'tsx', script, JSON.stringify(shape)] as const;
  const own = await UpdateProcess.start<object, { readonly peak_rss_mb: number }>('Proximal', node);
  try {
    const { runs, own: updates } = await alternate(own, {
      ...{ peers, rounds, contended, quiet, onUpdate: printUpdate },
      start: (peer) => {
        const dtype = peer === 'torch_bf16' ? 'bfloat16' : 'float32';
        const request = { ...shape, threads, dtype };
        return UpdateProcess.start(peer, peerCommand(python!, 'small_update.py', request));
      },
    });
    const result = await own.finish();
    const { fastest_ratio: update_ratio, ...comparison } = comparePeers(result.peak_rss_mb, runs);
    return {
      ...(peers.length > 0 && { update_ratio, ...comparison }),
      milliseconds: round(1000 * medianUpdate(updates).seconds, 1),
      ...{ ...result, ...shape, rounds, contended, quiet, threads },
    };
  } finally {
    own.stop();
  }
}
