import { type CommandDefinition, STORE_ARGUMENT } from '../command-definition.ts';

export const verify: CommandDefinition = {
  name: 'verify',
  summary: 'check a store for damage',
  description:
    'Reads a whole store and prints every problem with its place: missing, torn or damaged records, wrong ' +
    'checksums. Exit code 1 if there is a problem.',
  arguments: { ...STORE_ARGUMENT },
  options: { '--json': 'print one line of JSON per problem, then one with the totals' },
  examples: ['coxswain verify', 'coxswain verify postgres://agents@db/agents --json'],
  load: async () => (await import('./verify-command.ts')).verifyCommand,
};
