import { type CommandDefinition, STORE_ARGUMENT } from '../command-definition.ts';

/** `coxswain verify`. */
export const verify: CommandDefinition = {
  name: 'verify',
  summary: 'check a store for damage',
  description:
    'Reads a whole store and says what is wrong and where: holes in the order of records, torn or damaged ' +
    'records, checksums. Exit code 1 when something is.',
  arguments: { ...STORE_ARGUMENT },
  options: { '--json': 'print one line of JSON a problem, then one with the totals' },
  examples: ['coxswain verify', 'coxswain verify postgres://agents@db/agents --json'],
  load: async () => (await import('./verify-command.ts')).verifyCommand,
};
