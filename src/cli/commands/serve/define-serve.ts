import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain serve`. */
export const serve: CommandDefinition = {
  name: 'serve',
  summary: 'start, stop or look at the server of http hooks; take OpenTelemetry',
  description:
    'The resident process that answers the hooks of coxswain init claude-code --http. Sessions start it by themselves; ' +
    'it listens on the loopback interface only, and leaves after six hours without an event. It takes OpenTelemetry (POST /v1/traces and /v1/logs) too; ' +
    'coxswain serve otlp takes that alone, needs no hooks, and runs in the foreground.',
  arguments: { '[action]': 'start (default), stop, status, run: in the foreground, or otlp' },
  options: {
    '--project <folder>': 'the project (default: this folder)',
    '--idle <span>': 'start, run: leave after so long without an event (default: 6h)',
    '--listen <host:port>': 'otlp: where to listen (default: 127.0.0.1:4318)',
    '--token-file <file>':
      'otlp: a file with the token that requests must bring; needed elsewhere than on the loopback interface',
    '--tls-cert <file>': 'otlp: certificate in PEM form; needed there too',
    '--tls-key <file>': 'otlp: its key',
    '--pause <span>': 'otlp: record a trace as cut off after so long without a span (default: 30m)',
    '--json': 'status: print one line of JSON',
  },
  examples: ['coxswain serve status', 'coxswain serve stop', 'coxswain serve start --idle 24h', 'coxswain serve otlp'],
  load: async () => (await import('./serve-command.ts')).serveCommand,
};
