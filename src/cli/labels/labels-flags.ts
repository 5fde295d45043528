/** What every `labels` command is given. */
export interface LabelsFlags {
  readonly labels: string;
  readonly json?: boolean;
}
