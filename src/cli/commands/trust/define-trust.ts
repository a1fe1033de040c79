import type { CommandDefinition } from '../command-definition.ts';

export const trust: CommandDefinition = {
  name: 'trust',
  summary: 'trust the configuration of a project',
  description:
    'Trusts the configuration files of a project with their current content. Without trust they are ignored as a whole, so a repository ' +
    'cannot silence advice, move records, force turns or run a command. Read the files first. Changing them revokes the trust.',
  arguments: { '[folder]': 'the project (default: this folder)' },
  options: {
    '--revoke': 'revoke the trust',
    '--list': 'list the trusted projects',
    '--json': 'print one line of JSON per project',
  },
  examples: ['coxswain trust', 'coxswain trust ../app --revoke'],
  load: async () => (await import('./trust-command.ts')).trustCommand,
};
