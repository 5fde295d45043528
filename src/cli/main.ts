import { explainSystemError } from '../fs/index.ts';
import { describeFailure, exitOnInterrupt } from './exit.ts';
import { runProgram } from './program.ts';

exitOnInterrupt();
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the output may stop early, as `head` does.
  if (error.code === 'EPIPE') process.exit();
  const next = 'run the command again';
  const { text, exitCode } = describeFailure(
    explainSystemError(error, { action: 'write the output', next }),
  );
  process.stderr.write(text);
  process.exit(exitCode);
});

process.exitCode = await runProgram(process.argv.slice(2));
