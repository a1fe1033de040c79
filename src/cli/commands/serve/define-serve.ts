import type { CommandDefinition } from '../command-definition.ts';

export const serve: CommandDefinition = {
  name: 'serve',
  summary: 'start, stop or inspect the server of http hooks; receive OpenTelemetry',
  description:
    'The resident process that answers the hooks of coxswain init claude-code --http. Sessions start it automatically; ' +
    'it listens on the loopback interface only, and stops after six hours without an event. It also receives OpenTelemetry (POST /v1/traces and /v1/logs); ' +
    'coxswain serve otlp receives only that, needs no hooks, and runs in the foreground.',
  arguments: { '[action]': 'start (default), stop, status, run (in the foreground) or otlp' },
  options: {
    '--project <folder>': 'the project (default: this folder)',
    '--idle <span>': 'start, run: stop after this time without an event (default: 6h)',
    '--listen <host:port>': 'otlp: address to listen on (default: 127.0.0.1:4318)',
    '--token-file <file>':
      'otlp: file with the token for requests (default on a loopback address: a token of the project)',
    '--no-token': 'otlp: let every program and user of this machine add runs; only on a loopback address',
    '--tls-cert <file>': 'otlp: certificate in PEM form; required unless the address is a loopback one',
    '--tls-key <file>': 'otlp: its key',
    '--pause <span>': 'otlp: record a trace as cut off after this time without a span (default: 30m)',
    '--json': 'status: print one line of JSON',
  },
  examples: ['coxswain serve status', 'coxswain serve stop', 'coxswain serve start --idle 24h', 'coxswain serve otlp'],
  load: async () => (await import('./serve-command.ts')).serveCommand,
};
