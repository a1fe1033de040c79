import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { messageOf } from '../../../core/base/error.ts';
import { countOf } from '../../../core/base/number-text.ts';
import type { FoundSession } from '../../../formats/find-sessions.ts';
import { inWords } from '../../../core/records/words.ts';
import { BUILD } from '../../../hosts/claude-code/build.ts';
import { storePath } from '../../../stores/store-address.ts';
import type { ResolvedStore } from '../../../hosts/config/resolved-config.ts';
import { checkClock, readClocks } from './check-clock.ts';
import { checkConfig } from './check-config.ts';
import { checkFaults } from './check-faults.ts';
import { checkHosts } from './check-hosts.ts';
import { checkServers } from './check-servers.ts';
import { checkSettings, commandsToTry } from './check-settings.ts';
import { checkSpills, checkStore } from './check-store.ts';
import { checkVersions } from './check-versions.ts';
import { failed, HOST_LIMIT_MS, unknown, type DoctorLine, type DoctorStatus } from './doctor-line.ts';
import { findSettings } from './find-settings.ts';
import { findSilentSession, HEARTBEAT_FIX, heartbeatLine, readHeartbeats, type Heartbeats } from './heartbeats.ts';
import { notTried, sendCanary } from './send-canary.ts';
import { resolveWithin } from './resolve-within.ts';
import { openReadableStore, openStoreNamed, shownStore } from '../../runs/open-store.ts';
import { loadProject, OLD_STORE, oldRecordsText } from '../../runs/project-store.ts';
import { linesOf, styled, type Block, type TextStyle, heading } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { printableCut, outputLine } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { aiSdkCapabilities } from '../../../adapters/ai-sdk/capabilities.ts';
import { claudeAgentSdkCapabilities } from '../../../adapters/claude/capabilities.ts';
import { langchainCapabilities } from '../../../adapters/langchain/capabilities.ts';
import { openaiAgentsCapabilities } from '../../../adapters/openai-agents/capabilities.ts';
import { openaiCapabilities } from '../../../adapters/openai/capabilities.ts';
import { DECISION_POINTS } from '../../../core/records/guidance.ts';
import type { AdapterCapabilities, PointCapability } from '../../../adapters/host/adapter-capabilities.ts';

export interface DoctorOptions {
  readonly json?: boolean;
  readonly adapters?: boolean;
}

/** Maximum number of hook commands that are tested. */
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

/** Runs `coxswain doctor`. @returns the exit code: 1 if a check fails */
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

/** Returns a row per check, followed by a row that says what to do. */
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
  const [first] = problems;
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
  const hosts = await checkHosts(places);
  // Users of other agent programs do not need Claude Code.
  const usesClaude =
    hosts.length === 0 || settings.some(({ commands, requests }) => commands.size + requests.length > 0);
  const versions = await checkVersions(BUILD, { cwd: projectFolder, env, usesClaude });
  const setup = { projectFolder, env, openStore: () => openStoreNamed(store.address) };
  // Runs before the hook tests, because a prompt starts a stopped server.
  const servers = await checkServers(settings, setup);
  const canaries: DoctorLine[] = [];
  for (const { command, mayRun } of commandsToTry(settings).slice(0, MAX_CANARIES)) {
    canaries.push(mayRun ? await sendCanary(command, setup) : notTried(command));
  }
  const storeLines = await checkStore(store, projectFolder);
  const path = storePath(store.address);
  const hasStore = path === undefined || existsSync(path);
  const heartbeats = hasStore ? await heartbeatsOf(store.address) : undefined;
  const lastRecordMs = heartbeats?.read?.lastRecordMs ?? 0;
  // Without a hook of Claude Code, no session of it is recorded.
  const silent = usesClaude
    ? await findSilentSession(projectFolder, { home: places.homeFolder, env }, lastRecordMs)
    : undefined;
  const clocks = await readClocks();
  const { nowMs } = clocks;
  const lines = [
    ...versions,
    ...checkSettings(settings, hosts.length > 0),
    ...hosts,
    ...canaries,
    ...servers,
    heartbeatsLine(heartbeats, nowMs, silent),
    ...oldRecordsLine(projectFolder),
    ...storeLines,
    checkSpills(store.address),
    checkClock({ ...clocks, lastRecordMs }),
    ...checkConfig(loaded),
    ...checkFaults({ projectFolder, env }, nowMs),
  ];
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

function heartbeatsLine(heartbeats: ReadHeartbeats | undefined, nowMs: number, silent?: FoundSession): DoctorLine {
  if (heartbeats?.problem !== undefined) {
    return failed('heartbeat', heartbeats.problem, 'Run coxswain verify to find out what is wrong with the store.');
  }
  return heartbeats?.read === undefined
    ? unknown('heartbeat', 'there is no store yet', HEARTBEAT_FIX)
    : heartbeatLine(heartbeats.read, nowMs, silent);
}

/** The capabilities of each adapter. Claude Code and its SDK have the same hooks. */
const CAPABILITIES: Readonly<Record<string, AdapterCapabilities>> = {
  'claude-code': claudeAgentSdkCapabilities,
  'claude-agent-sdk': claudeAgentSdkCapabilities,
  openai: openaiCapabilities,
  'openai-agents': openaiAgentsCapabilities,
  'ai-sdk': aiSdkCapabilities,
  langchain: langchainCapabilities,
};

/** Returns the capabilities as a table with a row per adapter and a column per decision point. */
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
