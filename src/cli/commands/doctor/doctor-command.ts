import { homedir } from 'node:os';

import { messageOf } from '../../../base/error.ts';
import { countOf } from '../../../base/number-text.ts';
import { inWords } from '../../../records/words.ts';
import { BUILD } from '../../../hosts/claude-code/build.ts';
import { projectFolderOf } from '../../../hosts/claude-code/project-folder.ts';
import { loadConfigSync } from '../../../config/load-config.ts';
import type { ResolvedStore } from '../../../config/resolved-config.ts';
import type { LiveReader, TrajectoryStore } from '../../../store/trajectory-store.ts';
import { CAPABILITIES, capabilityTable } from './capability-table.ts';
import { checkClock, readClocks } from './check-clock.ts';
import { checkConfig, checkRecords } from './check-config.ts';
import { checkFaults } from './check-faults.ts';
import { checkHosts } from './check-hosts.ts';
import { checkServers } from './check-servers.ts';
import { checkSettings, commandsToTry } from './check-settings.ts';
import { checkSpills } from './check-spills.ts';
import { checkStore } from './check-store.ts';
import { checkVersions } from './check-versions.ts';
import { failed, unknown, type DoctorLine, type DoctorStatus } from './doctor-line.ts';
import { findSettings } from './find-settings.ts';
import { heartbeatLine, readHeartbeats, type Heartbeats } from './heartbeats.ts';
import { notTried, sendCanary } from './send-canary.ts';
import { within } from './within.ts';
import { openReadableStore, openStoreNamed, shownStore } from '../../runs/open-store.ts';
import type { Style } from '../../terminal/paint.ts';
import { jsonLine, printableCut } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain doctor`, as the command line gives them. */
export interface DoctorOptions {
  readonly json?: boolean;
  readonly adapters?: boolean;
}

const STORE_LIMIT_MS = 5_000;
/** Different commands of ours that are tried. */
const MAX_CANARIES = 4;
const LINE_CHARS = 700;
const MARKS: Readonly<Record<DoctorStatus, readonly [string, Style]>> = {
  pass: ['ok     ', 'green'],
  fail: ['problem', 'red'],
  unknown: ['unknown', 'yellow'],
};

/** What the checks found. Plain JSON: what `--json` prints. */
interface DoctorReport {
  readonly ok: boolean;
  readonly projectFolder: string;
  readonly store: ResolvedStore;
  readonly lines: readonly DoctorLine[];
  readonly heartbeats: Heartbeats | null;
}

/**
 * `coxswain doctor`: whether the hook is alive and what stands in its way, a line each. Changes nothing but that it sends
 * an event through the hook, whose run it deletes. Every check has a time limit.
 *
 * @returns the exit code: 1 when a check fails
 */
export async function doctorCommand(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const report = await examine();
  if (options.json === true) {
    await terminal.write(jsonLine({ ...report, adapters: CAPABILITIES }));
    return report.ok ? 0 : 1;
  }
  const width = Math.max(...report.lines.map(({ check }) => inWords('check', check).length));
  for (const { check, found, fix, status } of report.lines) {
    const [mark, style] = MARKS[status];
    const head = `${terminal.paint(style, mark)}  ${inWords('check', check).padEnd(width)}  ${printableCut(found, LINE_CHARS)}\n`;
    const indent = ' '.repeat(width + 11);
    await terminal.write(
      fix === undefined ? head : `${head}${indent}${terminal.paint('dim', printableCut(fix, LINE_CHARS))}\n`,
    );
  }
  await terminal.write(`\n${closingText(report.lines)}\n`);
  if (options.adapters === true) await terminal.write(`\n${capabilityTable(terminal.paint)}`);
  return report.ok ? 0 : 1;
}

function closingText(lines: readonly DoctorLine[]): string {
  const problems = lines.filter(({ status }) => status === 'fail');
  const [first] = problems;
  if (first !== undefined) {
    const count = countOf(problems.length, 'problem');
    return `${count} in this project. First: ${inWords('check', first.check)}. ${printableCut(first.fix ?? '', LINE_CHARS)}`;
  }
  const isSeen = lines.some(({ check, status }) => check === 'heartbeat' && status === 'pass');
  return isSeen
    ? 'All is well: sessions of this project are recorded.'
    : 'No problem found. No session of this project is recorded yet.';
}

async function examine(): Promise<DoctorReport> {
  const { env } = process;
  // As the hook finds it.
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  const loaded = loadConfigSync({ projectFolder, env });
  const { store } = loaded.resolved;
  const open = (): Promise<TrajectoryStore> => openStoreNamed(store.address);

  const places = { projectFolder, homeFolder: homedir(), env };
  const settings = findSettings(places);
  const hosts = await checkHosts(places);
  // Who uses another program needs no Claude Code.
  const usesClaude =
    hosts.length === 0 || settings.some(({ commands, requests }) => commands.size + requests.length > 0);
  const versions = await checkVersions(BUILD, { cwd: projectFolder, env, usesClaude });
  const setup = { projectFolder, env, openStore: open };
  // Before the canaries: a prompt starts a server that is not there.
  const servers = await checkServers(settings, setup);
  const canaries: DoctorLine[] = [];
  for (const { command, mayRun } of commandsToTry(settings).slice(0, MAX_CANARIES)) {
    canaries.push(mayRun ? await sendCanary(command, setup) : notTried(command));
  }
  const stored = await checkStore(store, projectFolder);
  const isThere = stored.length > 2;
  const heartbeats = isThere ? await heartbeatsOf(() => openReadableStore(store.address)) : undefined;
  const clocks = await readClocks();
  const nowMs = clocks.nowMs;
  const lines = [
    ...versions,
    ...checkSettings(settings, hosts.length > 0),
    ...hosts,
    ...canaries,
    ...servers,
    heartbeatsLine(heartbeats, nowMs),
    checkRecords(loaded),
    ...stored,
    checkSpills(store.address),
    checkClock({ ...clocks, lastRecordMs: heartbeats?.read?.lastRecordMs ?? 0 }),
    ...checkConfig(loaded),
    ...checkFaults({ projectFolder, env }, nowMs),
  ];
  const ok = lines.every(({ status }) => status !== 'fail');
  return {
    ok,
    projectFolder,
    store: { kind: store.kind, address: shownStore(store.address) },
    lines,
    heartbeats: heartbeats?.read ?? null,
  };
}

interface ReadHeartbeats {
  readonly read?: Heartbeats;
  readonly problem?: string;
}

async function heartbeatsOf(open: () => Promise<LiveReader>): Promise<ReadHeartbeats> {
  const look = async (): Promise<ReadHeartbeats> => {
    const store = await open();
    try {
      return { read: await readHeartbeats(store) };
    } finally {
      await store.close();
    }
  };
  const late: ReadHeartbeats = { problem: `the store did not answer in ${STORE_LIMIT_MS / 1000} seconds` };
  return within(look(), STORE_LIMIT_MS, late).catch((error: unknown): ReadHeartbeats => ({
    problem: messageOf(error),
  }));
}

function heartbeatsLine(heartbeats: ReadHeartbeats | undefined, nowMs: number): DoctorLine {
  if (heartbeats?.problem !== undefined) {
    return failed('heartbeat', heartbeats.problem, 'Run coxswain verify, which says what is wrong with the store.');
  }
  const none: Heartbeats = { lastByEvent: {}, lastRecordMs: 0 };
  return heartbeats?.read === undefined
    ? unknown('heartbeat', 'there is no store yet', heartbeatLine(none, nowMs).fix ?? '')
    : heartbeatLine(heartbeats.read, nowMs);
}
