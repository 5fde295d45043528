import { options, render } from 'preact';
import type { ReportData } from '../api.ts';
import './theme.css';
import './base.css';
import { DashboardState } from './dashboard-state.ts';
import { App } from './shell/app.tsx';
import { followTheme } from './shell/theme.ts';
import { embeddedSource, httpSource } from './sources.ts';

const report = document.getElementById('proximal-report');
const source =
  report === null
    ? httpSource()
    : embeddedSource(JSON.parse(report.textContent ?? '') as ReportData);

// Once a frame at most, and not at all while nobody sees the page.
options.debounceRendering = (draw) => requestAnimationFrame(draw);
followTheme();
render(<App state={new DashboardState(source)} />, document.getElementById('app')!);
