import type { Command } from 'commander';

import type { CommandSetup } from './add-store-commands.ts';
import { examples } from './examples.ts';
import type { InitOptions } from './commands/init/init-command.ts';
import type { ServeOptions } from './commands/serve/serve-command.ts';

/** Adds the commands for Claude Code: init and serve. */
export function addClaudeCodeCommands(program: Command, { terminal, onExitCode }: CommandSetup): void {
  program
    .command('init')
    .description(
      'Puts the hook into the settings of Claude Code: from then on its sessions are recorded and steered. Shows what ' +
        'would change and asks first. What others have there stays. Repeating it changes nothing.',
    )
    .summary('record and steer Claude Code sessions')
    .argument('[target]', 'claude-code (default)')
    .option('--user', 'your own settings, for all projects, instead of those of this project')
    .option('--local', 'the project’s .claude/settings.local.json, which git ignores, instead of .claude/settings.json')
    .option(
      '--http',
      'send events to one resident process of the project instead of starting one for each; with --local',
    )
    .option('--port <number>', 'where that process listens, 1024 to 65535 (default: one that is free)')
    .option('--project <folder>', 'the project (default: this folder)')
    .option('--deadline <span>', 'also write a configuration that gives each session this long, such as 45m')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would change, and stop')
    .option('--undo', 'take it back: the same bytes as before, where nobody has changed them since')
    .addHelpText(
      'after',
      examples(
        'coxswain init claude-code',
        'coxswain init claude-code --user --deadline 45m --yes',
        'coxswain init claude-code --http',
        'coxswain init --undo',
      ),
    )
    .action(async (target: string | undefined, options: InitOptions) => {
      const { initCommand } = await import('./commands/init/init-command.ts');
      onExitCode(await initCommand(target, options, terminal));
    });

  program
    .command('serve')
    .description(
      'The resident process that answers the hooks of coxswain init claude-code --http. Sessions start it by themselves; ' +
        'it listens on the loopback interface only, and leaves after six hours without an event.',
    )
    .summary('start, stop or look at the server of http hooks')
    .argument('[action]', 'start (default), stop, status, or run: in the foreground')
    .option('--project <folder>', 'the project (default: this folder)')
    .option('--idle <span>', 'start, run: leave after so long without an event (default: 6h)')
    .option('--json', 'status: print one line of JSON')
    .addHelpText('after', examples('coxswain serve status', 'coxswain serve stop', 'coxswain serve start --idle 24h'))
    .action(async (action: string | undefined, options: ServeOptions) => {
      const { serveCommand } = await import('./commands/serve/serve-command.ts');
      onExitCode(await serveCommand(action, options, terminal));
    });
}
