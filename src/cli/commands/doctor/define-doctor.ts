import type { CommandDefinition } from '../command-definition.ts';

export const doctor: CommandDefinition = {
  name: 'doctor',
  summary: 'check that sessions are recorded, and what prevents it',
  description:
    'Checks that sessions of this project are recorded. Each check is one line: ok, problem or unknown, with what to do. ' +
    'Sends one event through the hook command of the settings and deletes its records; ' +
    'changes nothing else. Exit code 1 if there is a problem.',
  options: {
    '--json': 'print one line of JSON',
    '--adapters': 'also print how each adapter of the library delivers advice',
  },
  examples: ['coxswain doctor', 'coxswain doctor --json'],
  load: async () => (await import('./doctor-command.ts')).doctorCommand,
};
