interface ProgressBarProps {
  readonly label: string;
  readonly value: number;
  readonly total: number;
}

/** How much is done. */
export function ProgressBar({ label, value, total }: ProgressBarProps) {
  // An empty element would claim that progress is unknown.
  return <progress class="label-progress" aria-label={label} max={total || 1} value={value} />;
}
