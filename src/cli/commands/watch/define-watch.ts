import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain watch`. */
export const watch: CommandDefinition = {
  name: 'watch',
  summary: 'print live what the steering would say to a running agent',
  description:
    'Follows a transcript while an agent writes it (Claude Code, or any format of one JSON value a line) and prints ' +
    'calls, patterns, and the advice that the standard steering would give. Without a path it follows every session of an agent ' +
    'program that was at work in the last half hour or begins later, and the store of this project: on a terminal as a list, ' +
    'a line a run, else as lines. It only prints: nothing reaches the ' +
    'agent. A Claude Code call is shown when the next answer begins, because its answers come in several lines. ' +
    'Ctrl-C ends it.',
  arguments: {
    '[file]': 'the growing file; if it does not exist yet, the command waits for it (default: every session at work)',
  },
  options: {
    '--newest': 'without a path: only the session that was written last, call by call',
    '--deadline <span>': 'by when the run should be done, from its first record, such as 45m or 1h30m',
    '--on-stuck <command>':
      'run this shell command when a run gets stuck, or goes on after advice: once in ten minutes for a run, with the event ' +
      'as JSON on standard input and in COXSWAIN_EVENT, COXSWAIN_RUN and COXSWAIN_MESSAGE',
    '--bell': 'ring the bell of the terminal then',
    '--from-start': 'print everything that the file holds already, not only the last ten calls',
    '--until-end': 'leave when the record says that the run has ended',
    '--no-wait': 'fail if the file does not exist',
    '--json': 'print one line of JSON an event',
    '--interval <ms>': 'milliseconds between two looks at the file, 10 to 60000 (default: 250)',
  },
  examples: [
    'coxswain watch',
    'coxswain watch --newest --bell',
    'coxswain watch ~/.claude/projects/my-app/SESSION.jsonl',
    'coxswain watch run.jsonl --deadline 45m',
    'coxswain watch run.jsonl --on-stuck \'mail -s "$COXSWAIN_MESSAGE" me@example.org\'',
    'coxswain watch run.jsonl --json --until-end > events.ndjson',
  ],
  load: async () => (await import('./watch-command.ts')).watchCommand,
};
