import type { CommandDefinition } from '../command-definition.ts';

export const watch: CommandDefinition = {
  name: 'watch',
  summary: 'follow running agents live, with the advice they would get',
  description:
    'Follows a transcript while an agent writes it (Claude Code, or any format with one JSON value per line) and prints ' +
    'calls, patterns, and the advice the standard steering would give. Without a path it follows every session of an agent ' +
    'program active in the last half hour or started later, and the stores of your projects: on a terminal as a list with ' +
    'one line per run, else line by line. It only prints: nothing reaches the agent. ' +
    'Ctrl-C ends it.',
  arguments: {
    '[file]': 'the growing file; the command waits for it if it does not exist (default: every active session)',
  },
  options: {
    '--newest': 'without a path: only the most recently written session, call by call',
    '--project <name>':
      'without a path: only this project: its folder, or the name of its folder (default: every project)',
    '--deadline <span>': 'the time a run has from its first record, such as 45m or 1h30m',
    '--on-stuck <command>':
      'run this shell command when a run gets stuck, continues after advice, waits for a person or is silent: at most once per ' +
      'run and event in ten minutes, with the event as JSON on standard input and in COXSWAIN_EVENT, COXSWAIN_RUN and COXSWAIN_MESSAGE',
    '--bell': 'ring the terminal bell at the same events',
    '--from-start': 'print the whole file, not only the last ten calls',
    '--until-end': 'exit when the run has ended',
    '--no-wait': 'fail if the file does not exist',
    '--background':
      'watch every agent in a process of its own that only notifies (notify in your configuration); one per user, until --stop',
    '--stop': 'end the watch in the background',
    '--json': 'print one line of JSON per event',
    '--interval <ms>': 'milliseconds between two reads of the file, 10 to 60000 (default: 250)',
  },
  examples: [
    'coxswain watch',
    'coxswain watch --newest --bell',
    'coxswain watch ~/.claude/projects/my-app/SESSION.jsonl',
    'coxswain watch run.jsonl --deadline 45m',
    'coxswain watch run.jsonl --on-stuck \'mail -s "$COXSWAIN_MESSAGE" me@example.org\'',
    'coxswain watch --background',
    'coxswain watch run.jsonl --json --until-end > events.ndjson',
  ],
  load: async () => (await import('./watch-command.ts')).watchCommand,
};
