/** Flags of `proximal train` that are no keys of a config. */
export interface TrainFlags {
  readonly config?: string;
  readonly resume?: string;
  readonly model?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}
