import { TextBlock } from '../samples/text-block.tsx';
import { oneLine } from '../samples/visible-text.ts';

/** Characters up to which a prompt stands open. */
const SHORT = 240;

/** The prompt; a long one is folded to its end, which the response follows. */
export function TokenPrompt({ prompt }: { readonly prompt: string }) {
  const isLong = prompt.length > SHORT;
  return (
    <details class="tokens-prompt" open={!isLong}>
      <summary>
        Prompt
        {isLong && <span class="tokens-muted"> …{oneLine(prompt.slice(-80), 80)}</span>}
      </summary>
      <TextBlock label="Prompt" text={prompt} />
    </details>
  );
}
