import type { CommandDefinition } from '../command-definition.ts';

export const serve: CommandDefinition = {
  name: 'serve',
  summary: 'receive OpenTelemetry of agents as runs',
  description:
    'coxswain serve otlp receives spans and log events over HTTP (POST /v1/traces and /v1/logs) and records the runs of agents ' +
    'in them. It runs in the foreground until it is interrupted.',
  arguments: { '[action]': 'otlp' },
  options: {
    '--project <folder>': 'the project (default: this folder)',
    '--listen <host:port>': 'address to listen on (default: 127.0.0.1:4318)',
    '--token-file <file>': 'file with the token for requests (default on a loopback address: a token of the project)',
    '--no-token': 'let every program and user of this machine add runs; only on a loopback address',
    '--tls-cert <file>': 'certificate in PEM form; required unless the address is a loopback one',
    '--tls-key <file>': 'its key',
    '--pause <span>': 'record a trace as cut off after this time without a span (default: 30m)',
  },
  examples: ['coxswain serve otlp', 'coxswain serve otlp --listen 127.0.0.1:4319'],
  load: async () => (await import('./serve-command.ts')).serveCommand,
};
