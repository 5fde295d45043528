import type { PackedBatch } from '../models/index.ts';

/** What forward passes gave, for whoever runs the same tokens before the weights change. */
export class KeptPasses<T> {
  private readonly kept: { readonly batch: PackedBatch; readonly pass: T }[] = [];

  keep(batch: PackedBatch, pass: T): void {
    this.kept.push({ batch, pass });
  }

  /** The pass over a batch; it is given once. */
  take(batch: PackedBatch): T | undefined {
    const place = this.kept.findIndex((one) => isSame(one.batch, batch));
    return place < 0 ? undefined : this.kept.splice(place, 1)[0]!.pass;
  }

  /** To be called when the weights change. */
  clear(): void {
    this.kept.length = 0;
  }
}

function isSame(a: PackedBatch, b: PackedBatch): boolean {
  return (
    isEqual(a.tokens, b.tokens) &&
    a.rows.length === b.rows.length &&
    a.rows.every((places, i) => isEqual(places, b.rows[i]!))
  );
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}
