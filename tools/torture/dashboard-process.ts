/** A dashboard in a process of its own, so that whatever a request does to it is seen from outside. */

import { startDashboard } from '../../src/dashboard/server/start-dashboard.ts';

/** What the process reports: its port at first, then its internal errors. */
export type DashboardReport = { readonly port: number } | { readonly error: string };

const [folder, page, labels] = process.argv.slice(2) as [string, string, string];
const report = (message: DashboardReport) => process.send!(message);
const onError = (error: unknown) => report({ error: String(error) });
const { port } = await startDashboard({ folders: [folder], page, labels, port: 0, onError });
process.on('disconnect', () => process.exit());
report({ port });
