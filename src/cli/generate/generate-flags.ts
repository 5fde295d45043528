/** The flags of `proximal generate` besides those of the generation config. */
export interface GenerateFlags {
  readonly model: string;
  readonly revision?: string;
  readonly prompt?: readonly string[];
  readonly promptFile?: readonly string[];
  readonly chat?: boolean;
  readonly adapter?: string;
  readonly json?: boolean;
}
