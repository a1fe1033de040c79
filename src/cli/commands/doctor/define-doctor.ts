import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain doctor`. */
export const doctor: CommandDefinition = {
  name: 'doctor',
  summary: 'look whether the hooks are alive and what stands in their way',
  description:
    'Looks whether the hook is alive in this project and what stands in its way, a line each: pass, fail, or unknown ' +
    'where nothing proves either. Sends one event through the hook command of the settings and deletes its records; ' +
    'changes nothing else. Exit code 1 when a check fails.',
  options: { '--json': 'print one line of JSON' },
  examples: ['coxswain doctor', 'coxswain doctor --json'],
  load: async () => (await import('./doctor-command.ts')).doctorCommand,
};
