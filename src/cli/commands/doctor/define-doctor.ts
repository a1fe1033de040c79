import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain doctor`. */
export const doctor: CommandDefinition = {
  name: 'doctor',
  summary: 'look whether sessions are recorded and what stands in the way',
  description:
    'Looks whether sessions of this project are recorded and what stands in the way, a line each: ok, problem, or unknown ' +
    'where nothing proves either, with what to do. Sends one event through the hook command of the settings and deletes its records; ' +
    'changes nothing else. Exit code 1 when there is a problem.',
  options: {
    '--json': 'print one line of JSON',
    '--adapters': 'also print what advice can do with each adapter of the library',
  },
  examples: ['coxswain doctor', 'coxswain doctor --json'],
  load: async () => (await import('./doctor-command.ts')).doctorCommand,
};
