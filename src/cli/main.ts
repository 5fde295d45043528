import { exitOnInterrupt } from './exit.ts';
import { handleOutputErrors } from './output-errors.ts';
import { runProgram } from './program.ts';

exitOnInterrupt();
handleOutputErrors();

process.exitCode = await runProgram(process.argv.slice(2));
