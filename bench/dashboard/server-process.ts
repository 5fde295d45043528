import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startDashboard } from '../../src/dashboard/server/start-dashboard.ts';

const file = fileURLToPath(import.meta.url);

/** Messages from the process. */
interface Answer {
  readonly url?: string;
  readonly cpuSeconds?: number;
}

export interface ServerProcess {
  readonly url: string;
  /** Processor time of the server. */
  cpuSeconds(): Promise<number>;
  end(): void;
}

/** Serves the runs of a folder from a separate process, so that its processor time can be measured
 *  separately from the training's. */
export async function startServerProcess(folder: string): Promise<ServerProcess> {
  const child = fork(file, [folder]);
  const { url } = await nextAnswer(child);
  if (url === undefined) throw new Error('Internal: the server reported no address');
  return {
    url,
    cpuSeconds: async () => {
      const answer = nextAnswer(child);
      child.send('cpu');
      return (await answer).cpuSeconds ?? 0;
    },
    end: () => child.disconnect(),
  };
}

function nextAnswer(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('Internal: the server ended'));
    child.once('exit', fail);
    child.once('message', (answer: Answer) => {
      child.off('exit', fail);
      resolve(answer);
    });
  });
}

if (process.argv[1] === file && process.send !== undefined) {
  const [folder] = process.argv.slice(2) as [string];
  const labels = `${folder}-labels`;
  const options = { folders: [folder], labels, port: 0, onError: console.error };
  const { url } = await startDashboard(options);
  const send = (answer: Answer) => process.send!(answer);
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    send({ cpuSeconds: (user + system) / 1e6 });
  });
  process.on('disconnect', () => process.exit());
  send({ url });
}
