import type { Command } from 'commander';

import type { CommandSetup } from './add-store-commands.ts';
import type { EffectCommandOptions } from './commands/effect/effect-command.ts';
import { examples } from './examples.ts';
import type { LabelOptions } from './commands/label/label-command.ts';

/** Adds the commands that tell whether advice helps and where it would have been wanted: effect, label. */
export function addEffectCommands(program: Command, { terminal, onExitCode }: CommandSetup): void {
  program
    .command('effect')
    .description(
      'What followed advice. Where an experiment drew runs (the option holdout of the configuration), per provider one ' +
        'figure: how often runs that were told left their pattern within some calls, against runs from which advice was ' +
        'withheld, with a 95 % interval. Without an experiment nothing is compared, and it says so. See docs/effect.md.',
    )
    .summary('compare runs that were told with runs from which advice was withheld')
    .argument('[paths...]', 'stores, or files, folders and globs of exported runs (default: .coxswain/runs.db)')
    .option('--within <calls>', 'calls in which a pattern should be left, 1 to 1000 (default: 10)')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', examples('coxswain effect', 'coxswain effect records/ --within 5', 'coxswain effect --json'))
    .action(async (paths: readonly string[], options: EffectCommandOptions) => {
      const { effectCommand } = await import('./commands/effect/effect-command.ts');
      onExitCode(await effectCommand(paths, options, terminal));
    });

  program
    .command('label')
    .description(
      'Shows moments of recorded runs one after the other, and takes a key for each: y the agent is stuck, n it is fine, ' +
        's skip, b back to the last one, q quit. Each key is stored at once; called again it goes on where it stopped.',
    )
    .summary('label moments of recorded runs, for backtest --labels')
    .argument('<paths...>', 'stores, or files, folders and globs, as analyze takes them')
    .requiredOption('--out <file>', 'the labels: CSV with id,target,split,note')
    .option('--from <source>', 'which moments: patterns, advice or random (default: patterns)')
    .option('--count <number>', 'moments a run at most, 1 to 100 (default: 3)')
    .addHelpText(
      'after',
      examples(
        'coxswain label .coxswain/runs.db --out labels.csv',
        "coxswain label 'runs/**/*.jsonl' --out labels.csv --from random",
      ),
    )
    .action(async (paths: readonly string[], options: LabelOptions) => {
      const { labelCommand } = await import('./commands/label/label-command.ts');
      onExitCode(await labelCommand(paths, options, terminal));
    });
}
