import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain status`. */
export const status: CommandDefinition = {
  name: 'status',
  summary: 'one line about the current run, for a status line',
  description:
    'One line about the run of this project that was at work last: calls, errors, the pattern it is in, time left. For a ' +
    'shell, and for the statusLine of Claude Code, whose session it shows then. Always exit code 0. A template may hold ' +
    '{calls}, {errors}, {turns}, {pattern}, {level}, {left}, {outcome}, {run} and {task}.',
  options: {
    '--json': 'print one line of JSON; null without a run',
    '--format <template>': 'print this, with names in braces replaced',
  },
  examples: ['coxswain status', "coxswain status --format '{calls} calls {pattern} {left}'"],
  load: async () => (await import('./status-main.ts')).statusMain,
};
