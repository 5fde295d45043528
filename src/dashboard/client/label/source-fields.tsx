import type { QueueSource, RunSummary } from '../../api.ts';

interface SourceFieldsProps {
  readonly from: QueueSource['from'];
  readonly runs: readonly RunSummary[];
}

/** The fields of a queue's source. */
export function SourceFields({ from, runs }: SourceFieldsProps) {
  if (from === 'compare') return <CompareFields runs={runs} />;
  if (from === 'samples') return <RunFields runs={runs} />;
  if (from === 'generate') return <ModelFields />;
  return (
    <label>
      JSON Lines file, in the dashboard's folder
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

/** PPO runs have a policy to compare. */
function policyRuns(runs: readonly RunSummary[]): RunSummary[] {
  return runs.filter(({ kind }) => kind === 'ppo');
}

/** A run's policy can always be compared; its samples often have one response per prompt only. */
export function defaultSource(runs: readonly RunSummary[]): QueueSource['from'] {
  return policyRuns(runs).length > 0 ? 'compare' : 'file';
}

function CompareFields({ runs }: Pick<SourceFieldsProps, 'runs'>) {
  const compared = policyRuns(runs);
  const options = compared.map(({ id, name }) => (
    <option key={id} value={id}>
      {name}
    </option>
  ));
  return (
    <>
      <label>
        Run
        <select name="run" required aria-describedby="label-compare-hint">
          {compared.length === 0 && <option value="">No run has a policy yet</option>}
          {options}
        </select>
        <span id="label-compare-hint" class="label-hint">
          Its policy and the other model respond to the run's validation prompts. Labellers do not
          see which response is whose.
        </span>
      </label>
      <label>
        Against
        <select name="against">
          <option value="">its reference</option>
          {options}
        </select>
      </label>
    </>
  );
}

function RunFields({ runs }: Pick<SourceFieldsProps, 'runs'>) {
  const withSamples = runs.filter(({ counts }) => counts.samples > 0);
  return (
    <>
      <label>
        Run
        <select name="run" required aria-describedby="label-samples-hint">
          {withSamples.length === 0 && <option value="">No run has samples yet</option>}
          {withSamples.map(({ id, name, counts }) => (
            <option key={id} value={id}>
              {name} ({counts.samples} samples)
            </option>
          ))}
        </select>
        <span id="label-samples-hint" class="label-hint">
          To choose or rank, the run must have several responses to the same prompt: from several
          epochs, or from several samples per prompt.
        </span>
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
        Model: a folder or a Hugging Face id
        <input name="model" required />
      </label>
      <label>
        File of prompts, in the dashboard's folder
        <input name="prompts" required placeholder="prompts.jsonl" />
      </label>
      <label>
        Maximum response length in tokens (optional)
        <input type="number" name="maxNewTokens" min={1} max={4096} />
      </label>
    </>
  );
}
