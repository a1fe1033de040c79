import type { CommandDefinition } from '../command-definition.ts';

export const trust: CommandDefinition = {
  name: 'trust',
  summary: 'trust the configuration of a project',
  description:
    'Trusts the configuration of a project. Without trust, a repository cannot silence advice, keep runs from being recorded, ' +
    'force turns or run a command. Read the files first. Changing them revokes the trust.',
  arguments: { '[folder]': 'the project (default: this folder)' },
  options: {
    '--revoke': 'revoke the trust',
    '--list': 'list the trusted projects',
    '--records':
      'accept the project’s folder .coxswain as yours after it was moved or restored, or your home folder is new',
    '--json': 'print one line of JSON per project',
  },
  examples: ['coxswain trust', 'coxswain trust ../app --revoke', 'coxswain trust --records'],
  load: async () => (await import('./trust-command.ts')).trustCommand,
};
