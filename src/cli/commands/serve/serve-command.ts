import { resolve } from 'node:path';
import { readFileSync } from 'node:fs';

import { spanOption } from '../../terminal/option-values.ts';
import { invalidArgument, CoxswainError, messageOf } from '../../../core/base/error.ts';
import { stateFile, type StateOwner } from '../../../core/node/state-places.ts';
import { projectFolderOf } from '../../../core/node/project-folder.ts';
import { DEFAULT_IDLE_LIMIT_MS, runServer, type RunningServer } from '../../../hosts/claude-code/run-server.ts';
import { readServeSettings, type ServeSettings } from '../../../hosts/claude-code/serve-settings.ts';
import { serverHealth, type ServerFacts, type ServerHealth } from '../../../hosts/claude-code/server-health.ts';
import { findServer, startServer, stopServer } from '../../../hosts/claude-code/server-process.ts';
import { countOf, durationText } from '../../../core/base/number-text.ts';
import { jsonLine, printable } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { logFault } from '../../../core/node/fault-log.ts';
import { ServedProject } from '../../../hosts/claude-code/served-project.ts';
import { OtlpEndpoint } from '../../../hosts/otlp/otlp-endpoint.ts';
import { DEFAULT_PAUSE_MS, OtlpIntake } from '../../../hosts/otlp/otlp-intake.ts';
import { isLoopback, startOtlpServer, type OtlpServerOptions } from '../../../hosts/otlp/otlp-server.ts';
import { otlpToken } from '../../../hosts/otlp/otlp-token.ts';
import { shellWord } from '../../terminal/shell-word.ts';

interface ServeOtlpOptions {
  readonly listen?: string;
  /** False for `--no-token`. */
  readonly token?: boolean;
  readonly tokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly pause?: string;
}

/** Default address to which OpenTelemetry exporters send data. */
const DEFAULT_ADDRESS = '127.0.0.1:4318';
const ADDRESS = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;

/**
 * Runs `coxswain serve otlp`: receives spans and log events over HTTP and stores them in the project's store. Runs in this process
 * until it is interrupted.
 *
 * @returns the exit code
 * @throws CoxswainError `invalid-argument` for an invalid option; `input-io` if a file or address cannot be used
 */
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
  const project = new ServedProject({ projectFolder, env, onFault });
  const intake = new OtlpIntake({
    owner,
    clock: systemClock,
    withTarget: (work) => project.withTarget(work),
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
  await project.close();
  const waitingNote =
    waitingCount === 0 ? '' : `; ${countOf(waitingCount, 'trace')} without an end, stored for the next start`;
  await terminal.write(
    `${countOf(spans, 'span')}, ${countOf(runs, 'run')}, ${late} late, ${refused} refused${waitingNote}\n`,
  );
  return 0;
}

/** Returns the address and its credentials. `tokenFile` contains the token; undefined for `--no-token`. */
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

export interface ServeOptions extends ServeOtlpOptions {
  readonly project?: string;
  readonly idle?: string;
  readonly json?: boolean;
}

/** Runs `coxswain serve`. @returns the exit code: 1 if the server did not start, or if `status` finds no server */
export async function serveCommand(
  action: string | undefined,
  options: ServeOptions,
  terminal: Terminal,
): Promise<number> {
  const projectFolder =
    options.project === undefined
      ? projectFolderOf({ projectDir: process.env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() })
      : resolve(options.project);
  if (action === 'otlp') return await serveOtlp(projectFolder, options, terminal);
  const settings = readServeSettings(projectFolder);
  const { idle } = options;
  const idleLimitMs = idle === undefined ? DEFAULT_IDLE_LIMIT_MS : spanOption('--idle', idle, '6h or 30m');
  switch (action ?? 'start') {
    case 'status':
      return await printStatus(projectFolder, { settings, isJson: options.json === true }, terminal);
    case 'stop': {
      const wasRunning = await stopServer(projectFolder);
      await terminal.write(wasRunning ? 'stopped\n' : 'no server was running\n');
      return 0;
    }
    case 'start':
      return await start(projectFolder, { settings: mustHave(settings, projectFolder), idle }, terminal);
    case 'run':
      return await runInForeground(
        projectFolder,
        { settings: mustHave(settings, projectFolder), idleLimitMs },
        terminal,
      );
    default:
      throw invalidArgument(
        `unknown action ${printable(String(action))}; choose one of start, stop, status, run and otlp`,
      );
  }
}

function mustHave(settings: ServeSettings | undefined, projectFolder: string): ServeSettings {
  if (settings !== undefined) return settings;
  throw invalidArgument(
    `no http hooks are set up for ${printable(projectFolder)}; run coxswain init claude-code --http there`,
  );
}

async function start(
  projectFolder: string,
  { settings, idle }: { readonly settings: ServeSettings; readonly idle: string | undefined },
  terminal: Terminal,
): Promise<number> {
  const idleArguments = idle === undefined ? [] : ['--idle', idle];
  const result = await startServer(projectFolder, { settings, env: process.env, more: idleArguments });
  if (result.kind === 'failed') {
    terminal.complain(`coxswain: ${printable(result.why)}`);
    return 1;
  }
  const done = result.kind === 'started' ? 'started' : 'already running';
  await terminal.write(`${done}: ${serverAddress(settings, result.facts)}\n`);
  return 0;
}

async function runInForeground(
  projectFolder: string,
  { settings, idleLimitMs }: { readonly settings: ServeSettings; readonly idleLimitMs: number },
  terminal: Terminal,
): Promise<number> {
  let server: RunningServer;
  try {
    server = await runServer({ projectFolder, settings, env: process.env, idleLimitMs });
  } catch (error) {
    const health = await serverHealth(settings);
    if (health.kind !== 'ours') throw error;
    // Another server was started at the same time.
    await terminal.write(`already running: ${serverAddress(settings, health.facts)}\n`);
    return 0;
  }
  const stop = (): void => void server.stop();
  let exitCode = 0;
  const fail = (error: unknown): void => {
    server.reportFault('server', error);
    exitCode = 1;
    // The memory of the server may be inconsistent after the error. The next prompt starts a new server.
    stop();
  };
  process.on('SIGTERM', stop);
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  terminal.onInterrupt(stop);
  await terminal.write(
    `serving ${printable(projectFolder)}: ${serverAddress(settings, server.facts())}; Ctrl-C ends it\n`,
  );
  await server.stopped;
  return exitCode;
}

async function printStatus(
  projectFolder: string,
  { settings, isJson }: { readonly settings: ServeSettings | undefined; readonly isJson: boolean },
  terminal: Terminal,
): Promise<number> {
  const health: ServerHealth =
    settings === undefined ? { kind: 'none', why: 'no http hooks are set up' } : await serverHealth(settings);
  if (isJson) {
    const facts = health.kind === 'ours' ? health.facts : { problem: printable(health.why) };
    await terminal.write(jsonLine({ running: health.kind === 'ours', port: settings?.port ?? null, ...facts }));
    return health.kind === 'ours' ? 0 : 1;
  }
  if (health.kind === 'ours' && settings !== undefined) {
    const { events, faults, lastEventAtMs, runs, startedAtMs, idleLimitMs } = health.facts;
    const nowMs = Date.now();
    const facts = [
      `up ${durationText(Math.max(0, nowMs - startedAtMs))}`,
      countOf(events, 'event'),
      ...(lastEventAtMs === null ? [] : [`the last ${durationText(Math.max(0, nowMs - lastEventAtMs))} ago`]),
      `${countOf(runs, 'run')} in memory`,
      countOf(faults, 'fault'),
      `stops after ${durationText(idleLimitMs)} without an event`,
    ];
    const otlp = health.facts.otlp;
    if (otlp !== undefined && otlp.spans + otlp.refused + otlp.waitingTraces > 0) {
      const { late, refused, runs: recorded, spans, waitingTraces: waiting } = otlp;
      facts.push(
        `OpenTelemetry: ${countOf(spans, 'span')}, ${countOf(recorded, 'run')} recorded, ${countOf(waiting, 'trace')} waiting, ${late} late, ${refused} refused`,
      );
    }
    const token = `token of OpenTelemetry exporters: ${printable(stateFile('otlpToken', { env: process.env, projectFolder }))}`;
    await terminal.write(`running: ${serverAddress(settings, health.facts)}\n${facts.join(', ')}\n${token}\n`);
    return 0;
  }
  const pid = findServer(projectFolder)?.holder.pid;
  const processNote = pid === undefined ? '' : `; process ${pid} does not answer: coxswain serve stop ends it`;
  const healthNote = health.kind === 'ours' ? '' : `: ${printable(health.why)}`;
  await terminal.write(`not running${healthNote}${processNote}\n`);
  return 1;
}

function serverAddress({ port }: ServeSettings, { pid }: ServerFacts): string {
  return `http://127.0.0.1:${port}, process ${pid}`;
}
