export interface RatingScale {
  readonly min: number;
  readonly max: number;
}

/** A rating as part of its scale: (rating − min) / (max − min); undefined if it is off the scale.
 *  @example 4 of 1 … 5  →  ¾;  6 of 1 … 5  →  undefined */
export function normalizeRating(rating: number, { min, max }: RatingScale): number | undefined {
  return rating >= min && rating <= max ? (rating - min) / (max - min) : undefined;
}
