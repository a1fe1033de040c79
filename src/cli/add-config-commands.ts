import type { Command } from 'commander';

import type { CommandSetup } from './add-store-commands.ts';
import type { ConfigCheckOptions } from './commands/config/config-check-command.ts';
import type { ConfigShowOptions } from './commands/config/config-show-command.ts';
import { examples } from './examples.ts';
import type { TrustOptions } from './commands/config/trust-command.ts';

/** Adds the commands about the configuration: config check, config show, trust. */
export function addConfigCommands(program: Command, { terminal, onExitCode }: CommandSetup): void {
  const config = program
    .command('config')
    .description('check and show the configuration that holds in this folder')
    .helpCommand(false)
    .addHelpText('after', examples('coxswain config check', 'coxswain config show --set'));

  config
    .command('check')
    .description(
      'Says everything that is wrong with the configuration, field by field, what of it does not count without trust, ' +
        'and what steering comes of it. Without a file: the one that holds in this folder, with your own below it. A file ' +
        'that is named is trusted, and its code runs. Exit code 1 when something is wrong.',
    )
    .summary('say what is wrong with the configuration, and what it does')
    .argument('[file]', 'a configuration: .json, .jsonc or .ts')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', examples('coxswain config check', 'coxswain config check coxswain.config.json --json'))
    .action(async (file: string | undefined, options: ConfigCheckOptions) => {
      const { configCheckCommand } = await import('./commands/config/config-check-command.ts');
      onExitCode(await configCheckCommand(file, options, terminal));
    });

  config
    .command('show')
    .description('print every field with the value that holds, and which of them were set')
    .summary('print every field with the value that holds')
    .option('--config <file>', 'the configuration to show; named, it is trusted')
    .option('--set', 'print only what was set')
    .option('--json', 'print what was set as one line of JSON')
    .addHelpText('after', examples('coxswain config show', 'coxswain config show --set'))
    .action(async (options: ConfigShowOptions) => {
      const { configShowCommand } = await import('./commands/config/config-show-command.ts');
      onExitCode(await configShowCommand(options, terminal));
    });

  program
    .command('trust')
    .description(
      'Lets the configuration of a project count. Without it a repository could silence advice, leave runs out of records, ' +
        'force turns or run a command. Look at the files first. A change of them withdraws it.',
    )
    .summary('let a project’s configuration count')
    .argument('[folder]', 'the project (default: this folder)')
    .option('--revoke', 'take it back')
    .option('--list', 'list the projects that are trusted')
    .option(
      '--records',
      'accept the folder .coxswain of the project as yours: after a move, a restore, or in a new home',
    )
    .option('--json', 'print one line of JSON a project')
    .addHelpText('after', examples('coxswain trust', 'coxswain trust ../app --revoke', 'coxswain trust --records'))
    .action(async (folder: string | undefined, options: TrustOptions) => {
      const { trustCommand } = await import('./commands/config/trust-command.ts');
      onExitCode(await trustCommand(folder, options, terminal));
    });
}
