import { useId } from 'preact/hooks';
import { download } from '../dashboard/client/charts/chart-export.ts';
import type { AdapterFiles } from '../web/index.ts';
import type { PlaygroundState } from './playground-state.ts';
import { zipFiles } from './zip.ts';

/** Downloads the trained adapter, or starts from an earlier one. */
export function AdapterButtons({ state }: { state: PlaygroundState }) {
  const initial = state.initial.value;
  const canLoad = state.phase.value === 'ready';
  const save = async () => {
    try {
      const archive = zipFiles(await state.adapter());
      download(new Blob([archive], { type: 'application/zip' }), 'adapter.zip');
    } catch (error) {
      state.report(error);
    }
  };
  return (
    <section class="playground-field" aria-label="Adapter">
      <span class="playground-label">Adapter</span>
      {state.hasRun.value && (
        <button type="button" onClick={() => void save()}>
          Download adapter
        </button>
      )}
      {canLoad && <AdapterInput state={state} />}
      {initial !== undefined && canLoad && (
        <p class="playground-hint">
          Start continues from the adapter of {initial.origin}.{' '}
          <button
            type="button"
            class="playground-link"
            onClick={() => {
              state.initial.value = undefined;
            }}
          >
            Start from the original model instead
          </button>
        </p>
      )}
      <p class="playground-hint">
        In the format of PEFT: unzip it and pass the folder to proximal or to transformers.
      </p>
    </section>
  );
}

const fileNames = ['adapter_config.json', 'adapter_model.safetensors'] as const;

/** Opens the two files of an adapter. */
function AdapterInput({ state }: { state: PlaygroundState }) {
  const id = useId();
  const open = async (files: FileList) => {
    try {
      state.useAdapter(await readFiles(files), 'these files');
    } catch (error) {
      state.report(error);
    }
  };
  return (
    <p class="playground-detail">
      <label for={id}>Start from the two files of an adapter</label>
      <input
        id={id}
        type="file"
        multiple
        accept=".json,.safetensors"
        onChange={({ currentTarget: { files } }) => {
          if (files !== null && files.length > 0) void open(files);
        }}
      />
    </p>
  );
}

async function readFiles(files: FileList): Promise<AdapterFiles> {
  const contents = await Promise.all(
    fileNames.map(async (name) => {
      const file = [...files].find((one) => one.name === name);
      if (file === undefined) {
        const got = [...files].map((one) => one.name).join(', ');
        throw new Error(`Cannot open the adapter: select ${fileNames.join(' and ')}, got ${got}`);
      }
      return [name, new Uint8Array(await file.arrayBuffer())] as const;
    }),
  );
  return Object.fromEntries(contents) as Record<(typeof fileNames)[number], Uint8Array>;
}
