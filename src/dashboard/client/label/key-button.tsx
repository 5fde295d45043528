interface KeyButtonProps {
  /** The key that does the same. */
  readonly keys: string;
  readonly title: string;
  readonly isReady: boolean;
  readonly onPress: () => void;
  readonly isChosen?: boolean;
  readonly isPrimary?: boolean;
}

/** A button that shows its key. It keeps the focus while it cannot be used. */
export function KeyButton(props: KeyButtonProps) {
  const { keys, title, isReady, isChosen = false, isPrimary = false, onPress } = props;
  const names = ['label-key', isPrimary && 'label-primary', isChosen && 'label-chosen'];
  return (
    <button
      type="button"
      class={names.filter(Boolean).join(' ')}
      aria-disabled={!isReady}
      onClick={() => isReady && onPress()}
    >
      <kbd>{keys}</kbd>
      <span>{title}</span>
    </button>
  );
}
