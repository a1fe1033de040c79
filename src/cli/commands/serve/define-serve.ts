import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain serve`. */
export const serve: CommandDefinition = {
  name: 'serve',
  summary: 'start, stop or look at the server of http hooks',
  description:
    'The resident process that answers the hooks of coxswain init claude-code --http. Sessions start it by themselves; ' +
    'it listens on the loopback interface only, and leaves after six hours without an event.',
  arguments: { '[action]': 'start (default), stop, status, or run: in the foreground' },
  options: {
    '--project <folder>': 'the project (default: this folder)',
    '--idle <span>': 'start, run: leave after so long without an event (default: 6h)',
    '--json': 'status: print one line of JSON',
  },
  examples: ['coxswain serve status', 'coxswain serve stop', 'coxswain serve start --idle 24h'],
  load: async () => (await import('./serve-command.ts')).serveCommand,
};
