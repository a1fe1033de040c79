import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '../../../core/base/error.ts';
import { MAKE_WRITABLE } from '../../../core/node/guarded-file.ts';
import { countOf, durationText } from '../../../core/base/number-text.ts';
import { inWords } from '../../../core/records/words.ts';
import { BUILD } from '../../../hosts/claude-code/build.ts';
import { CANARY_PREFIX } from '../../../hosts/claude-code/spilled-events.ts';
import { storePath } from '../../../stores/store-address.ts';
import type { ResolvedStore } from '../../../hosts/config/resolve-config.ts';
import { findBackgroundWatch } from '../watch/background-watch.ts';
import { checkHosts } from './check-hosts.ts';
import { checkOldSessions, checkSettings, commandsToTry, findSettings } from './check-settings.ts';
import { checkSpills, checkStateFolder, checkStore, notTried, sendCanary } from './check-store.ts';
import {
  failed,
  HOST_LIMIT_MS,
  unknown,
  type DoctorLine,
  type DoctorStatus,
  passed,
  resolveWithin,
} from './doctor-line.ts';
import {
  findSilentSession,
  HEARTBEAT_FIX,
  heartbeatLine,
  readHeartbeats,
  type Heartbeats,
  type SilentSession,
} from './heartbeats.ts';
import {
  openReadableStore,
  openStoreNamed,
  shownStore,
  loadProject,
  OLD_STORE,
  oldRecordsText,
  machineSessions,
} from '../../runs/open-store.ts';
import { linesOf, styled, type Block, type TextStyle, heading } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { printableCut, outputLine } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { DECISION_POINTS } from '../../../core/records/spoken-advice.ts';
import { CAPABILITIES } from '../../../adapters/capabilities.ts';
import type { PointCapability } from '../../../adapters/host/adapter-capabilities.ts';
import { problemText } from '../../../hosts/config/config-problem.ts';
import { untrustedText, type LoadedConfig } from '../../../hosts/config/loaded-config.ts';
import type { StateOwner } from '../../../core/node/state-places.ts';
import { faultOwners, readFaults, type FaultLine, type LoggedFault } from '../../../core/node/fault-log.ts';
import { findClaude, type FoundClaude } from '../../../hosts/claude-code/claude-version.ts';
import { needsOf } from '../../../hosts/claude-code/init-hooks.ts';
import { requireSqlite } from '../../../stores/sqlite/sqlite-database.ts';

function checkVersions(version: string, env: Readonly<Record<string, string | undefined>>): readonly DoctorLine[] {
  return [
    passed('node', `${process.version} (${process.execPath})`),
    passed('coxswain', version),
    checkSqlite(process.versions.sqlite),
    ...(env['COXSWAIN_DISABLE'] === '1'
      ? [failed('enabled', 'COXSWAIN_DISABLE=1 is set here: nothing is recorded', 'Run: unset COXSWAIN_DISABLE')]
      : []),
  ];
}

function checkSqlite(version: string | undefined): DoctorLine {
  const fix = 'Install Node 24 from nodejs.org, which includes a newer SQLite.';
  if (version === undefined) return unknown('sqlite', 'this Node does not report its SQLite version', fix);
  try {
    requireSqlite(version);
    return passed('sqlite', version);
  } catch (error) {
    return failed('sqlite', messageOf(error), fix);
  }
}

function claudeLine(claude: FoundClaude | undefined): DoctorLine {
  const fix = 'Install Claude Code, or put claude on the PATH, if you use it here.';
  if (claude === undefined) return unknown('claude', 'not on the PATH', fix);
  const { file, problem, version } = claude;
  if (problem === undefined) return passed('claude', `${version} (${file})`);
  return unknown('claude', `${file} --version ${problem}`, fix);
}

const RECENT_MS = 24 * 3_600_000;
const MAX_SHOWN = 3;

/**
 * Faults of this project in the last 24 hours fail the check. Those in the user's log may come from any project.
 *
 * @param works  the store took an event just now, and no other check fails
 */
function checkFaults(place: StateOwner, nowMs: number, works: boolean): readonly DoctorLine[] {
  // Faults of events that the doctor sent are reported by the hook check.
  const isRecent = ({ at, sessionId }: FaultLine): boolean =>
    nowMs - Date.parse(at) < RECENT_MS && sessionId?.startsWith(CANARY_PREFIX) !== true;
  const [project = place, user] = faultOwners(place);
  const userFaults = (user === undefined ? [] : readFaults(user)).filter(isRecent);
  const last = userFaults.at(-1);
  const userLines =
    last === undefined
      ? []
      : [
          unknown(
            'faults elsewhere',
            `${countOf(userFaults.length, 'problem')} in 24 hours, perhaps of other projects; the last: ${last.message.slice(0, 200)}`,
            `Nothing to do here. The list is in ${last.file}.`,
          ),
        ];
  return [projectFaults(readFaults(project), { isRecent, nowMs, works }), ...userLines, ...watchLines(nowMs)];
}

function watchLines(nowMs: number): readonly DoctorLine[] {
  let watch: ReturnType<typeof findBackgroundWatch>;
  try {
    watch = findBackgroundWatch();
  } catch (error) {
    return [unknown('watch', messageOf(error), MAKE_WRITABLE)];
  }
  if (watch.state === 'never') return [];
  if (watch.state === 'running') return [passed('watch', `it runs in the background (process ${watch.pid})`)];
  const agoText = durationText(Math.max(0, nowMs - watch.sinceMs));
  return [unknown('watch', `it ended ${agoText} ago: nobody is notified`, 'Run: coxswain watch --background')];
}

interface FaultQuery {
  readonly isRecent: (fault: FaultLine) => boolean;
  readonly nowMs: number;
  readonly works: boolean;
}

function projectFaults(faults: readonly LoggedFault[], { isRecent, nowMs, works }: FaultQuery): DoctorLine {
  const recentFaults = faults.filter(isRecent);
  const newest = recentFaults.at(-1);
  if (newest === undefined) {
    return passed('faults', faults.length === 0 ? 'none' : `none in 24 hours; ${countOf(faults.length, 'older one')}`);
  }
  const kinds = new Map<string, number>();
  for (const { where } of recentFaults) kinds.set(where, (kinds.get(where) ?? 0) + 1);
  const counts = [...kinds].toSorted(([, a], [, b]) => b - a).map(([where, count]) => `${where} ${count}`);
  const sinceText = durationText(Math.max(0, nowMs - Date.parse(recentFaults[0]?.at ?? '')));
  const latestLines = recentFaults
    .slice(-MAX_SHOWN)
    .toReversed()
    .map(({ at, event, message, where }) => {
      const place = event === undefined ? where : `${where}, ${event}`;
      return `${durationText(Math.max(0, nowMs - Date.parse(at)))} ago (${place}): ${message.slice(0, 200)}`;
    });
  const found = `${countOf(recentFaults.length, 'problem')} in ${sinceText} (${counts.join(', ')}); ${latestLines.join('; ')}`;
  if (works && recentFaults.every(({ where }) => where === 'spill'))
    return unknown('faults', found, `Nothing is wrong now. The list is in ${newest.file}.`);
  return failed('faults', found, `The agents were not affected. After fixing the cause, delete ${newest.file}.`);
}

const MEASURE_MS = 200;
/** Maximum difference between the clocks. The process may be suspended between the two readings. */
const MAX_DRIFT_MS = 50;
/** January 2025, before any coxswain record. */
const EARLIEST_MS = 1_735_689_600_000;
const MAX_AHEAD_MS = 60_000;

interface ClockReadings {
  readonly nowMs: number;
  readonly wallMs: number;
  readonly steadyMs: number;
  readonly lastRecordMs: number;
}

async function readClocks(): Promise<Omit<ClockReadings, 'lastRecordMs'>> {
  const wall = Date.now();
  const steadyStartMs = performance.now();
  await sleep(MEASURE_MS);
  const nowMs = Date.now();
  return { nowMs, wallMs: nowMs - wall, steadyMs: performance.now() - steadyStartMs };
}

function checkClock({ lastRecordMs, nowMs, steadyMs, wallMs }: ClockReadings): DoctorLine {
  const now = new Date(nowMs).toISOString();
  const fix = 'Set the clock, and keep it synchronized with a time service.';
  if (nowMs < EARLIEST_MS) return failed('clock', `it is ${now}`, fix);
  if (lastRecordMs > nowMs + MAX_AHEAD_MS) {
    const last = new Date(lastRecordMs).toISOString();
    return failed('clock', `it is ${now}, but the last record is from ${last}`, fix);
  }
  if (Math.abs(wallMs - steadyMs) > MAX_DRIFT_MS) {
    const found = `it advanced ${Math.round(wallMs)} ms in ${Math.round(steadyMs)} ms`;
    return unknown('clock', found, 'Run coxswain doctor again; if this stays, check what sets the clock.');
  }
  return passed('clock', now);
}

export interface DoctorOptions {
  readonly json?: boolean;
  readonly adapters?: boolean;
}

const MAX_CANARIES = 4;
const LINE_CHARS = 700;
const MARKS: Readonly<Record<DoctorStatus, readonly [string, TextStyle]>> = {
  pass: ['ok', 'good'],
  fail: ['problem', 'bad'],
  unknown: ['unknown', 'warn'],
};

interface DoctorReport {
  readonly ok: boolean;
  readonly projectFolder: string;
  readonly store: ResolvedStore;
  readonly lines: readonly DoctorLine[];
  readonly heartbeats: Heartbeats | null;
}

export async function doctorCommand(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const report = await examineProject();
  if (options.json === true) {
    await terminal.write(outputLine({ ...report, adapters: CAPABILITIES }));
    return report.ok ? 0 : 1;
  }
  const blocks = [
    checkTable(report.lines),
    linesOf([closingText(report.lines)]),
    ...(options.adapters === true ? capabilityBlocks() : []),
  ];
  await terminal.write(terminalText({ blocks }, terminal));
  return report.ok ? 0 : 1;
}

function checkTable(checks: readonly DoctorLine[]): Block {
  const rows = checks.flatMap(({ check, found, fix, status }) => {
    const [mark, style] = MARKS[status];
    const row = [styled(style, mark), inWords('check', check), printableCut(found, LINE_CHARS)];
    return fix === undefined ? [row] : [row, ['', '', styled('dim', printableCut(fix, LINE_CHARS))]];
  });
  return { type: 'table', left: [1, 2], rows };
}

function closingText(lines: readonly DoctorLine[]): string {
  const problems = lines.filter(({ status }) => status === 'fail');
  // A hook cannot work without its store.
  const first = problems.find(({ check }) => check === 'store contents') ?? problems[0];
  if (first !== undefined) {
    const count = countOf(problems.length, 'problem');
    return `${count} in this project. First: ${inWords('check', first.check)}. ${printableCut(first.fix ?? '', LINE_CHARS)}`;
  }
  const hooks = lines.find(({ check, status }) => check === 'hooks' && status === 'unknown');
  if (hooks !== undefined) return `No hook was found. First: ${hooks.fix ?? ''}`;
  const hasSession = lines.some(({ check, status }) => check === 'heartbeat' && status === 'pass');
  return hasSession
    ? 'All is well: sessions of this project are recorded.'
    : 'No problem found. No session of this project is recorded yet.';
}

async function examineProject(): Promise<DoctorReport> {
  const { env } = process;
  const { loaded, projectFolder } = loadProject();
  const { store } = loaded.resolved;
  const places = { projectFolder, homeFolder: homedir(), env };
  const settings = findSettings(places);
  const { hooks: hookedHosts, lines: hosts } = await checkHosts(places);
  const setup = { projectFolder, env, openStore: () => openStoreNamed(store.address) };
  const storeLines = await checkStore(store, projectFolder);
  const path = storePath(store.address);
  const hasStore = path === undefined || existsSync(path);
  const heartbeats = hasStore ? await heartbeatsOf(store.address) : undefined;
  const { lastRecordMs, lastByHost } = heartbeats?.read ?? NO_HEARTBEATS;
  const sessions = machineSessions();
  const hasClaudeHooks = settings.some(({ commands }) => commands.size > 0);
  const isOfPrograms =
    lastRecordMs > 0 && Object.keys(lastByHost).length === 0 && sessions.every((host) => host.sessions.length === 0);
  // Users of other agent programs, or of none, do not need Claude Code.
  const needsClaude = hosts.length === 0 && !isOfPrograms;
  const usesClaude = needsClaude || hasClaudeHooks;
  const claude = usesClaude ? await findClaude(projectFolder, env) : undefined;
  const claudeFiles = settings.filter(({ commands }) => commands.size > 0);
  const settingsLines = checkSettings(settings, {
    isHookElsewhere: !needsClaude,
    needs: needsOf(claude?.version, loaded),
  });
  const isMissing = settingsLines.some(({ check, status }) => check === 'hook paths' && status === 'fail');
  // A line above says already why nothing is recorded.
  const isOff = isMissing || env['COXSWAIN_DISABLE'] === '1';
  const canaries: DoctorLine[] = [];
  for (const { command, mayRun } of commandsToTry(settings).slice(0, MAX_CANARIES)) {
    if (!mayRun) canaries.push(notTried(command));
    else if (!isOff) canaries.push(await sendCanary(command, setup));
  }
  const silent = await findSilentSession(
    [...claudeFiles.map(({ file }) => ({ host: 'claude-code' as const, file })), ...hookedHosts],
    { projectFolder, home: places.homeFolder, env, lastByHost },
  );
  const claudeSessions = sessions.find(({ format }) => format === 'claude-code')?.sessions ?? [];
  const clocks = await readClocks();
  const { nowMs } = clocks;
  const checks = [
    ...checkVersions(BUILD, env),
    ...(usesClaude ? [claudeLine(claude)] : []),
    ...settingsLines,
    ...checkOldSessions(settings, claudeSessions, nowMs),
    ...hosts,
    ...canaries,
    heartbeatsLine(heartbeats, nowMs, isOff ? undefined : silent),
    ...oldRecordsLine(projectFolder),
    ...storeLines,
    ...checkStateFolder(places),
    checkSpills(store.address),
    checkClock({ ...clocks, lastRecordMs }),
    ...checkConfig(loaded),
  ];
  const isWell = checks.every(({ status }) => status !== 'fail');
  const works = isWell && canaries.some(({ status }) => status === 'pass');
  const lines = [...checks, ...checkFaults({ projectFolder, env }, nowMs, works)];
  const isOk = lines.every(({ status }) => status !== 'fail');
  return {
    ok: isOk,
    projectFolder,
    store: { kind: store.kind, address: shownStore(store.address) },
    lines,
    heartbeats: heartbeats?.read ?? null,
  };
}

function oldRecordsLine(projectFolder: string): readonly DoctorLine[] {
  const text = oldRecordsText(projectFolder);
  return text === undefined ? [] : [unknown('old records', text, `Run: coxswain import ${OLD_STORE}`)];
}

interface ReadHeartbeats {
  readonly read?: Heartbeats;
  readonly problem?: string;
}

async function heartbeatsOf(address: string): Promise<ReadHeartbeats> {
  const readFromStore = async (): Promise<ReadHeartbeats> => {
    const store = await openReadableStore(address);
    try {
      return { read: await readHeartbeats(store) };
    } finally {
      await store.close();
    }
  };
  const timeoutResult: ReadHeartbeats = { problem: `the store did not respond in ${HOST_LIMIT_MS / 1000} seconds` };
  return resolveWithin(readFromStore(), HOST_LIMIT_MS, timeoutResult).catch((error: unknown) => ({
    problem: messageOf(error),
  }));
}

function heartbeatsLine(heartbeats: ReadHeartbeats | undefined, nowMs: number, silent?: SilentSession): DoctorLine {
  if (heartbeats?.problem !== undefined) {
    return failed('heartbeat', heartbeats.problem, 'Run coxswain verify to find out what is wrong with the store.');
  }
  const { read = NO_HEARTBEATS } = heartbeats ?? {};
  return read === NO_HEARTBEATS && silent === undefined
    ? unknown('heartbeat', 'there is no store yet', HEARTBEAT_FIX)
    : heartbeatLine(read, nowMs, silent);
}

const NO_HEARTBEATS: Heartbeats = { lastByEvent: {}, lastByHost: {}, lastRecordMs: 0 };

function capabilityBlocks(): readonly Block[] {
  const rows = Object.entries(CAPABILITIES).map(([name, capabilities]) =>
    [name].concat(DECISION_POINTS.map((point) => cellOf(capabilities[point]))),
  );
  const left = [...DECISION_POINTS.keys()].map((at) => at + 1);
  return [heading('Delivery of advice, by adapter'), { type: 'table', head: ['', ...DECISION_POINTS], left, rows }];
}

function cellOf({ persistence, timing }: PointCapability): string {
  return persistence === 'unsupported' ? '–' : `${persistence}, ${timing}`;
}

function checkConfig({ problems, sources, untrusted }: LoadedConfig): readonly DoctorLine[] {
  const [problem] = problems;
  const files = sources.map(({ file }) => file).join(', ');
  const moreText = (count: number): string => (count > 1 ? ` and ${count - 1} more` : '');
  const ignored = untrustedText({ untrusted });
  return [
    problem === undefined
      ? passed('configuration', files === '' ? 'none: the standard steering applies' : files)
      : failed(
          'configuration',
          `${problem.file === undefined ? '' : `${problem.file}: `}${problemText(problem)}${moreText(problems.length)}`,
          'Run coxswain config check; wrong fields are ignored.',
        ),
    ...(ignored === undefined
      ? []
      : [unknown('trust', ignored, 'Read the file, then run coxswain trust if it should apply.')]),
  ];
}
