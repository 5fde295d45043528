import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Peers of updates: torch + PEFT in float32 and in bfloat16, and TRL. */
export const PEERS = ['torch', 'torch_bf16', 'trl'] as const;

export type PeerName = (typeof PEERS)[number];

/** Runs a script of tools/oracle/bench and returns the JSON on its last line. */
export function runPeer(python: string, script: string, ...args: string[]): object {
  const { status, stdout, stderr } = spawnSync(python, [scriptPath(script), ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Cannot run the peer with ${python}: ${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1) as string);
}

/** The command of a peer whose only argument is a JSON object. */
export function peerCommand(
  python: string,
  script: string,
  request: object,
): [string, ...string[]] {
  return [python, scriptPath(script), JSON.stringify(request)];
}

/** Whether a Python has a TRL with PPO. */
export function hasTrl(python: string): boolean {
  try {
    execFileSync(python, ['-c', 'import trl.experimental.ppo'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function scriptPath(script: string): string {
  return fileURLToPath(new URL(`../tools/oracle/bench/${script}`, import.meta.url));
}
