/** Places of the k largest scores, the largest first; of equal ones the first comes first, and −∞ never does.
 *  @example scores 1, 3, −∞, 3, 2, k 3  →  1, 3, 4 */
export function topIndices(scores: Float32Array, k: number): Int32Array {
  const indices = new Int32Array(k);
  const best = new Float32Array(k).fill(-Infinity);
  let count = 0;
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    if (!(score > best[k - 1]!)) continue;
    let place = Math.min(count, k - 1);
    for (; place > 0 && best[place - 1]! < score; place--) {
      best[place] = best[place - 1]!;
      indices[place] = indices[place - 1]!;
    }
    best[place] = score;
    indices[place] = i;
    if (count < k) count++;
  }
  return indices.slice(0, count);
}
