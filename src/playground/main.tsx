// First, because schemas are created when their modules load.
import './no-eval.ts';

import { options, render } from 'preact';
import '../dashboard/client/theme.css';
import '../dashboard/client/base.css';
import { applyTheme } from '../dashboard/client/shell/theme.ts';
import { App } from './app.tsx';
import { PlaygroundState } from './playground-state.ts';

const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });

// Render at most once per frame, and not at all while the page is hidden.
options.debounceRendering = (draw) => requestAnimationFrame(draw);
applyTheme();
render(<App state={new PlaygroundState(worker)} />, document.getElementById('app')!);
