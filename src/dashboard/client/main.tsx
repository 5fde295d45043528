import { options, render } from 'preact';
import type { ReportData } from '../api.ts';
import './theme.css';
import './base.css';
import { DashboardState } from './dashboard-state.ts';
import { App } from './shell/app.tsx';
import { applyTheme } from './shell/theme.ts';
import { embeddedSource, httpSource } from './sources.ts';

const report = document.getElementById('proximal-report');
const source =
  report === null
    ? httpSource()
    : embeddedSource(JSON.parse(report.textContent ?? '') as ReportData);

// Render at most once per frame, and not at all while the page is hidden.
options.debounceRendering = (render) => requestAnimationFrame(render);
applyTheme();
render(<App state={new DashboardState(source)} />, document.getElementById('app')!);
