/** Flags of `proximal evaluate` that are no keys of a config. */
export interface EvaluateFlags {
  readonly adapter?: string;
  readonly model?: string;
  readonly json?: boolean;
}
