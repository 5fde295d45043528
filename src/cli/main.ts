import { exitOnInterrupt } from './exit.ts';
import { runProgram } from './program.ts';

exitOnInterrupt();
// The reader of the output may stop early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runProgram(process.argv.slice(2));
