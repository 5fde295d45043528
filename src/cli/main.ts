#!/usr/bin/env node
import { Command } from 'commander';
import { version } from '../version.ts';

const usageError = 2;

const program = new Command('proximal')
  .description('Fine-tune language models with proximal policy optimisation (PPO).')
  .version(version)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageError))
  .on('command:*', ([name]: string[]) =>
    program.error(`Unknown command "${name}": run "proximal --help" for what exists`),
  );

const hasArguments = process.argv.length > 2;
await program.parseAsync(hasArguments ? process.argv : [...process.argv, '--help']);
