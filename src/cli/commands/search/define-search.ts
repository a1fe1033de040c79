import { type CommandDefinition, STORE_OPTION } from '../command-definition.ts';

export const search: CommandDefinition = {
  name: 'search',
  summary: 'find recorded messages, calls and results by their words',
  description:
    'Finds the recorded messages, calls and results that contain all the words, newest first. Words in double quotes ' +
    '(inside those of the shell) must be adjacent. Exit code 0 also if nothing is found.',
  arguments: { '<words...>': 'words that a record must contain, all of them' },
  options: {
    ...STORE_OPTION,
    '--run <run>': 'only in this run: its id, or a prefix of it',
    '--kind <kind>': { text: 'only records of this kind, such as tool_ended; may be repeated', isRepeatable: true },
    '--limit <number>': 'hits to print, 1 to 1000 (default: 50)',
    '--after <cursor>': 'continue after the cursor that an earlier search printed',
    '--json': 'print one line of JSON per hit',
  },
  examples: [
    'coxswain search no rule for target',
    'coxswain search \'"expected 7439"\' --kind tool_ended',
    'coxswain search deploy --run retry-storm --json',
  ],
  load: async () => (await import('./search-command.ts')).searchCommand,
};
