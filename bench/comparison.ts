import { median, round } from './measure.ts';
import type { Update } from './update-process.ts';

/** What a peer's process reports at its end. */
export interface PeerFacts {
  readonly peak_rss_mb: number;
  readonly versions: Readonly<Record<string, string>>;
}

/** The alternating updates of our process and of a peer's. */
export interface PeerRun {
  readonly own: readonly Update[];
  readonly peer: readonly Update[];
  readonly facts: PeerFacts;
  /** Cores that other processes used during an update, at most; missing if unknown. */
  readonly otherCores?: number;
}

export interface Comparison {
  readonly peers: Readonly<Record<string, object>>;
  /** Peer's seconds / ours in the same rounds, per peer. */
  readonly ratios: Readonly<Record<string, number>>;
  /** The ratio against the fastest peer. */
  readonly fastest_ratio: number;
  /** Our peak memory / the peer's, per peer. */
  readonly rss_ratios: Readonly<Record<string, number>>;
}

/** Medians of seconds and of each phase.
 *  @example seconds 1, 5 and 2  →  2 */
export function medianUpdate(updates: readonly Update[]): Update {
  const names = Object.keys(updates[0]?.phases ?? {});
  const middle = (pick: (update: Update) => number) => round(median(updates.map(pick)));
  const phases = names.map((name) => [name, middle((update) => update.phases![name]!)] as const);
  return {
    seconds: middle((update) => update.seconds),
    ...(names.length > 0 && { phases: Object.fromEntries(phases) }),
  };
}

/** Compares the medians of each peer's rounds with ours of the same rounds.
 *  @example ours 2 s, torch 3 s, trl 5 s  →  ratios 1.5 and 2.5, fastest_ratio 1.5 */
export function comparePeers(
  ownPeakMb: number,
  runs: Readonly<Partial<Record<string, PeerRun>>>,
): Comparison {
  const map = <T>(pick: (run: PeerRun) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, pick(run!)]));
  const exact = map(({ own, peer }) => medianSeconds(peer) / medianSeconds(own));
  const ratios = Object.entries(exact).map(([name, ratio]) => [name, round(ratio, 2)] as const);
  return {
    peers: map(({ own, peer, facts, otherCores }) => ({
      ...medianUpdate(peer),
      own_seconds: round(medianSeconds(own)),
      ...compareCpu(own, peer),
      ...(otherCores !== undefined && { other_cores: round(otherCores, 2) }),
      ...facts,
    })),
    ratios: Object.fromEntries(ratios),
    fastest_ratio: Math.min(...ratios.map(([, ratio]) => ratio)),
    rss_ratios: map(({ facts }) => round(ownPeakMb / facts.peak_rss_mb)),
  };
}

/** Processor times of both and their ratio. On a busy machine it is closer to that of a quiet one than the
 *  ratio of wall times, above all with one thread: several threads wait for each other. */
function compareCpu(own: readonly Update[], peer: readonly Update[]): object {
  const [ownTime, peerTime] = [own, peer].map((updates) =>
    median(updates.map(({ cpuSeconds = Number.NaN }) => cpuSeconds)),
  ) as [number, number];
  if (Number.isNaN(ownTime + peerTime)) return {};
  return {
    cpu_seconds: round(peerTime),
    own_cpu_seconds: round(ownTime),
    cpu_ratio: round(peerTime / ownTime, 2),
  };
}

function medianSeconds(updates: readonly Update[]): number {
  return median(updates.map(({ seconds }) => seconds));
}
