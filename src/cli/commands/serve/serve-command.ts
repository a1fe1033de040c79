import { resolve } from 'node:path';
import { readFileSync } from 'node:fs';

import { spanOption } from '../../terminal/option-values.ts';
import { invalidArgument, CoxswainError, messageOf } from '../../../core/base/error.ts';
import type { StateOwner } from '../../../core/node/state-places.ts';
import { projectFolderOf } from '../../../core/node/git-folder.ts';
import { projectRedaction } from '../../../hosts/claude-code/project-sessions.ts';
import { loadConfigSync } from '../../../hosts/config/load-config.ts';
import { countOf } from '../../../core/base/number-text.ts';
import { printable } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { logFault } from '../../../core/node/fault-log.ts';
import { openStore } from '../../../stores/registry/open-store.ts';
import { OtlpEndpoint } from '../../../hosts/otlp/otlp-endpoint.ts';
import { DEFAULT_PAUSE_MS, OtlpIntake } from '../../../hosts/otlp/otlp-intake.ts';
import { isLoopback, startOtlpServer, type OtlpServerOptions, otlpToken } from '../../../hosts/otlp/otlp-server.ts';
import { shellWord } from '../../terminal/time-text.ts';

interface ServeOtlpOptions {
  readonly listen?: string;
  readonly token?: boolean;
  readonly tokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly pause?: string;
}

const DEFAULT_ADDRESS = '127.0.0.1:4318';
/** Time limit for waiting for the store, as in a hook process. */
const STORE_TIMEOUT_MS = 2_000;
const ADDRESS = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;

async function serveOtlp(projectFolder: string, options: ServeOtlpOptions, terminal: Terminal): Promise<number> {
  const owner = { env: process.env, projectFolder };
  const { tokenFile, ...address } = addressOf(options, owner);
  const { pause } = options;
  const pauseMs = pause === undefined ? DEFAULT_PAUSE_MS : spanOption('--pause', pause, '30m');
  const { env } = process;
  const onFault = (fault: { readonly where: string; readonly message: string }, unlessKnown = false): void => {
    logFault(fault, { projectFolder, env, nowMs: systemClock.nowMs() }, unlessKnown);
    terminal.complain(`coxswain: ${printable(fault.message)}`);
  };
  const intake = new OtlpIntake({
    owner,
    clock: systemClock,
    // The configuration may change while the server runs.
    withTarget: async (work) => {
      const { resolved } = loadConfigSync({ projectFolder, env });
      const store = await openStore(resolved.store.address, { waitMs: STORE_TIMEOUT_MS });
      try {
        return await work({ store, redact: projectRedaction(resolved, onFault).redact });
      } finally {
        await store.close();
      }
    },
    onFault,
    pauseMs,
    onRecorded: ({ runId, calls }) => void terminal.write(`recorded ${printable(runId)}: ${countOf(calls, 'call')}\n`),
  });
  intake.open();
  const server = await startOtlpServer({ ...address, endpoint: new OtlpEndpoint((found) => intake.take(found)) });
  const stopped = Promise.withResolvers<void>();
  terminal.onInterrupt(() => stopped.resolve());
  process.on('SIGTERM', () => stopped.resolve());
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  const url = `${address.tls === undefined ? 'http' : 'https'}://${host}:${server.port}`;
  const shownToken =
    tokenFile === undefined
      ? 'without a token: every program and user of this machine can add runs'
      : `setting of the exporter: OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$(cat ${printable(shellWord(tokenFile))})"`;
  await terminal.write(
    `receiving OpenTelemetry at ${url} for ${printable(projectFolder)}; Ctrl-C stops it\n${shownToken}\n`,
  );
  await stopped.promise;
  await server.close();
  const waitingCount = await intake.stop();
  const { late, refused, runs, spans } = intake.facts;
  const waitingNote =
    waitingCount === 0 ? '' : `; ${countOf(waitingCount, 'trace')} without an end, stored for the next start`;
  await terminal.write(
    `${countOf(spans, 'span')}, ${countOf(runs, 'run')}, ${late} late, ${refused} refused${waitingNote}\n`,
  );
  return 0;
}

function addressOf(
  options: ServeOtlpOptions,
  owner: StateOwner,
): Omit<OtlpServerOptions, 'endpoint'> & { readonly tokenFile: string | undefined } {
  const { listen = DEFAULT_ADDRESS, token: needsToken = true, tokenFile, tlsCert, tlsKey } = options;
  const parts = ADDRESS.exec(listen);
  const port = Number(parts?.[3]);
  if (parts === null || port > 65_535) {
    throw invalidArgument(`--listen is ${JSON.stringify(listen)}; give HOST:PORT, such as ${DEFAULT_ADDRESS}`);
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw invalidArgument('give both --tls-cert and --tls-key');
  }
  const tls =
    tlsCert === undefined || tlsKey === undefined ? undefined : { cert: fileOf(tlsCert), key: fileOf(tlsKey) };
  if (!needsToken && tokenFile !== undefined) throw invalidArgument('give either --token-file or --no-token');
  const host = parts[1] ?? parts[2] ?? '';
  if (!needsToken) return { host, port, token: undefined, tls, tokenFile: undefined };
  // The kept token is only for this machine: a server that other machines can reach needs one that the user gives.
  if (tokenFile !== undefined) return { host, port, token: fileOf(tokenFile).trim(), tls, tokenFile };
  if (!isLoopback(host)) return { host, port, token: undefined, tls, tokenFile: undefined };
  const { file, token } = otlpToken(owner);
  return { host, port, token, tls, tokenFile: file };
}

function fileOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CoxswainError('input-io', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

export async function serveCommand(
  action: string | undefined,
  options: ServeOtlpOptions & { readonly project?: string },
  terminal: Terminal,
): Promise<number> {
  if (action !== 'otlp') {
    const found = action === undefined ? 'an action is missing' : `unknown action ${printable(action)}`;
    throw invalidArgument(`${found}; the only one is otlp`);
  }
  const projectFolder =
    options.project === undefined
      ? projectFolderOf(process.cwd(), process.env['CLAUDE_PROJECT_DIR'])
      : resolve(options.project);
  return await serveOtlp(projectFolder, options, terminal);
}
