import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain trust`. */
export const trust: CommandDefinition = {
  name: 'trust',
  summary: 'let a project’s configuration count',
  description:
    'Lets the configuration of a project count. Without it a repository could silence advice, leave runs out of records, ' +
    'force turns or run a command. Look at the files first. A change of them withdraws it.',
  arguments: { '[folder]': 'the project (default: this folder)' },
  options: {
    '--revoke': 'take it back',
    '--list': 'list the projects that are trusted',
    '--records': 'accept the folder .coxswain of the project as yours: after a move, a restore, or in a new home',
    '--json': 'print one line of JSON a project',
  },
  examples: ['coxswain trust', 'coxswain trust ../app --revoke', 'coxswain trust --records'],
  load: async () => (await import('./trust-command.ts')).trustCommand,
};
