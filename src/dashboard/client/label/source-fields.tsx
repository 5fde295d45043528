import type { QueueSource, RunSummary } from '../../api.ts';

interface SourceFieldsProps {
  readonly from: QueueSource['from'];
  readonly runs: readonly RunSummary[];
}

/** The fields that say where a queue's responses come from. */
export function SourceFields({ from, runs }: SourceFieldsProps) {
  if (from === 'samples') return <RunFields runs={runs} />;
  if (from === 'generate') return <ModelFields />;
  return (
    <label>
      File of JSON Lines, below the dashboard's folder
      <input
        name="file"
        required
        aria-describedby="label-file-hint"
        placeholder="responses.jsonl"
      />
      <span id="label-file-hint" class="label-hint">
        Each line has "prompt" and "responses", or "prompt", "chosen" and "rejected".
      </span>
    </label>
  );
}

function RunFields({ runs }: Pick<SourceFieldsProps, 'runs'>) {
  const withSamples = runs.filter(({ counts }) => counts.samples > 0);
  return (
    <>
      <label>
        Run
        <select name="run" required>
          {withSamples.length === 0 && <option value="">No run has samples yet</option>}
          {withSamples.map(({ id, name, counts }) => (
            <option key={id} value={id}>
              {name} ({counts.samples} samples)
            </option>
          ))}
        </select>
      </label>
      <label>
        From step (optional)
        <input type="number" name="fromStep" min={0} />
      </label>
    </>
  );
}

function ModelFields() {
  return (
    <>
      <label>
        Model: a folder or an id of the hub
        <input name="model" required />
      </label>
      <label>
        File with prompts, below the dashboard's folder
        <input name="prompts" required placeholder="prompts.jsonl" />
      </label>
      <label>
        Longest response in tokens (optional)
        <input type="number" name="maxNewTokens" min={1} max={4096} />
      </label>
    </>
  );
}
