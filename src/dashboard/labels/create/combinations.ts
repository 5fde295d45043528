/** Different sets of n of k places: each place comes about equally often, and the first sets share
 *  none. Of two all sets come, of more only some.
 *  @example k=4, n=2  →  [0, 1], [2, 3], [1, 2], [3, 0], [0, 2], [1, 3] */
export function* combinations(k: number, n: number): Generator<number[]> {
  if (n > k) return;
  const seen = new Set<string>();
  for (let stride = 1; stride <= Math.max(1, Math.floor(k / 2)); stride++) {
    for (let offset = 0; offset < n; offset++) {
      for (let first = offset; first < k; first += n) {
        const places = Array.from({ length: n }, (_, i) => (first + i * stride) % k);
        const key = places.toSorted((a, b) => a - b).join();
        if (new Set(places).size < n || seen.has(key)) continue;
        seen.add(key);
        yield places;
      }
    }
  }
}
