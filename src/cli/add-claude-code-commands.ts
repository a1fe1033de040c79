import type { Command } from 'commander';

import type { CommandSetup } from './add-store-commands.ts';
import { examples } from './examples.ts';
import type { InitOptions } from './init-command.ts';

/** Adds the commands for Claude Code: init. */
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
        'coxswain init --undo',
      ),
    )
    .action(async (target: string | undefined, options: InitOptions) => {
      const { initCommand } = await import('./init-command.ts');
      onExitCode(await initCommand(target, options, terminal));
    });
}
