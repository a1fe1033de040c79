import type { CommandDefinition } from '../command-definition.ts';

export const status: CommandDefinition = {
  name: 'status',
  summary: 'print one line about the current run, for a status line',
  description:
    'Prints one line about the most recently active run of this project: calls, errors, its pattern, tokens, cost, the size of ' +
    'the context, the time left. For a shell, and for the statusLine of Claude Code, where it shows the current session. Always exit code 0. A template may contain ' +
    '{calls}, {errors}, {turns}, {tokens}, {cost}, {context}, {pattern}, {level}, {left}, {outcome}, {run}, {host} and {task}.',
  options: {
    '--json': 'print one line of JSON; null without a run',
    '--format <template>': 'print this template, with the names in braces replaced',
  },
  examples: ['coxswain status', "coxswain status --format '{calls} calls {pattern} {left}'"],
  load: async () => (await import('./status-main.ts')).statusMain,
};
