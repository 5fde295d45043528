import { describe, expect, it } from 'vitest';
import { comparePeers, medianUpdate, type PeerRun } from './comparison.ts';

const updates = (...seconds: number[]) => seconds.map((one) => ({ seconds: one }));

function run(own: number[], peer: number[], peak = 1000): PeerRun {
  return {
    ...{ own: updates(...own), peer: updates(...peer) },
    facts: { peak_rss_mb: peak, versions: { torch: '2.13.0' } },
  };
}

describe('medianUpdate()', () => {
  it('takes the medians of seconds and of each phase separately', () => {
    const measured = [
      { seconds: 5, phases: { generate: 1, update: 4 } },
      { seconds: 3, phases: { generate: 2, update: 1 } },
      { seconds: 4, phases: { generate: 3, update: 1 } },
    ];
    expect(medianUpdate(measured)).toEqual({ seconds: 4, phases: { generate: 2, update: 1 } });
  });

  it('takes the mean of the middle two of an even number', () => {
    expect(medianUpdate(updates(1, 4, 2, 10))).toEqual({ seconds: 3 });
  });
});

describe('comparePeers()', () => {
  it('divides medians of the same rounds, so that a slow period of both cancels out', () => {
    const quiet = run([2, 2, 2], [3, 3, 9]);
    const slow = run([4, 4, 4], [10, 10, 10]);
    const { ratios, fastest_ratio, peers } = comparePeers(500, { torch: quiet, trl: slow });
    expect(ratios).toEqual({ torch: 1.5, trl: 2.5 });
    expect(fastest_ratio).toBe(1.5);
    expect(peers.torch).toEqual({
      ...{ seconds: 3, own_seconds: 2, peak_rss_mb: 1000, versions: { torch: '2.13.0' } },
    });
  });

  it('has a fastest ratio below 1 if a peer is faster', () => {
    const { fastest_ratio } = comparePeers(1, { a: run([2], [1]), b: run([2], [8]) });
    expect(fastest_ratio).toBe(0.5);
  });

  it('divides our peak memory by the peer’s', () => {
    const { rss_ratios } = comparePeers(3000, { trl: run([1], [1], 18_000) });
    expect(rss_ratios).toEqual({ trl: 0.167 });
  });

  it('reports how many cores other processes used', () => {
    const { peers } = comparePeers(1, { torch: { ...run([1], [1]), otherCores: 1.234 } });
    expect(peers.torch).toHaveProperty('other_cores', 1.23);
  });

  it('compares processor times if all are known', () => {
    const known = { own: [{ seconds: 1, cpuSeconds: 2 }], peer: [{ seconds: 9, cpuSeconds: 3 }] };
    const { peers } = comparePeers(1, { torch: { ...run([1], [9]), ...known } });
    expect(peers.torch).toMatchObject({ cpu_seconds: 3, own_cpu_seconds: 2, cpu_ratio: 1.5 });
    const { peers: unknown } = comparePeers(1, { torch: run([1], [9]) });
    expect(unknown.torch).not.toHaveProperty('cpu_ratio');
  });
});
