/** Krippendorff's α: how far people agree beyond chance.
 *  α = 1 − D_o/D_e;  D_o = 1/n · Σ_u Σ_{i≠j} δ(v_ui, v_uj)/(m_u − 1);  D_e = Σ_{c,k} n_c·n_k·δ(c, k)/(n(n − 1))
 *  with m_u ≥ 2 values of unit u, n values in all and n_c of them equal to c. Null where all values
 *  are equal, as nothing can then be told from chance.
 *  @example units [0, 0], [1, 1], [0, 1], δ = 1 where values differ
 *    →  n = 6, D_o = 2/6, D_e = (3·3 + 3·3)/(6·5) = 3/5, α = 1 − 5/9 = 4/9 */
export function krippendorffAlpha<V>(
  units: readonly (readonly V[])[],
  distance: (a: V, b: V) => number,
): number | null {
  const counts = new Map<V, number>();
  for (const value of units.flat()) counts.set(value, (counts.get(value) ?? 0) + 1);
  const n = units.reduce((sum, { length }) => sum + length, 0);
  const within = units.map((values) => {
    const sum = values.flatMap((a) => values.map((b) => distance(a, b))).reduce((s, d) => s + d, 0);
    return sum / (values.length - 1);
  });
  const observed = within.reduce((sum, value) => sum + value, 0) / n;
  const across = [...counts].flatMap(([c, n_c]) =>
    [...counts].map(([k, n_k]) => n_c * n_k * distance(c, k)),
  );
  const expected = across.reduce((sum, value) => sum + value, 0) / (n * (n - 1));
  return expected === 0 ? null : 1 - observed / expected;
}
