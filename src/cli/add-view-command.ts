import type { Command } from 'commander';

import type { CommandSetup } from './add-store-commands.ts';
import { examples } from './examples.ts';
import type { ViewOptions } from './commands/view/view-command.ts';

/** Adds `coxswain view`. */
export function addViewCommand(program: Command, { terminal, onExitCode }: CommandSetup): void {
  program
    .command('view')
    .description(
      'Shows runs as pages in the browser: what the agents did, where they got stuck, what was said to them and what came of it, live ' +
        'while they work. Takes stores, and files, folders and globs of any format that analyze reads; without an argument the ' +
        'store of this project. Nobody but this machine can reach it, and nothing is written to what it shows.',
    )
    .summary('show runs in the browser')
    .argument('[paths...]', 'stores, files, folders, globs')
    .option('--port <number>', 'the port to use (default: 7717, or the next free one)')
    .option('--no-open', 'print the address and open no browser')
    .option('--report <file>', 'a backtest report as JSON, to be shown too; may be given again', collected)
    .option('--labels <file>', 'a CSV file into which runs and moments are labelled')
    .addHelpText(
      'after',
      examples(
        'coxswain view',
        "coxswain view 'runs/**/*.jsonl'",
        'coxswain view ~/.claude/projects/my-app/SESSION.jsonl --no-open --port 8080',
        'coxswain view .coxswain/runs.db --labels labels.csv --report backtest.json',
      ),
    )
    .action(async (paths: readonly string[], options: ViewOptions) => {
      const { viewCommand } = await import('./commands/view/view-command.ts');
      onExitCode(await viewCommand(paths, options, terminal));
    });
}

function collected(file: string, before: readonly string[] = []): readonly string[] {
  return [...before, file];
}
