import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { systemClock } from '../../core/base/clock.ts';
import { hasCode, messageOf } from '../../core/base/error.ts';
import { faultText } from '../../core/recorder/append-fault.ts';
import { untrustedText } from '../config/loaded-config.ts';
import { type OneShotStore, sqliteOneShot } from '../../stores/sqlite/sqlite-one-shot.ts';
import type { ClaudeSessions } from './claude-sessions.ts';
import { EventIntake } from './event-intake.ts';
import { logFault, MAX_CONFIG_FAULTS, type HookFault } from '../../core/node/fault-log.ts';
import { hookConfig } from './hook-config.ts';
import { findHomeFolder, isKnownEvent, readHookEvent, type HookEvent } from './hook-event.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';
import { refreshLessons, tellsLessons } from './project-lessons.ts';
import { projectRedaction, projectSessions } from './project-sessions.ts';
import { writeStdout } from './write-stdout.ts';
import type { ResolvedStore } from '../config/resolve-config.ts';
import { LINE_MARK, linesOf } from './hook-lines.ts';

export { warmUp } from './warm-up.ts';

/** Total time limit for waiting for the store, per event. Claude Code waits 10 seconds for a hook. */
const TIME_LIMIT_MS = 2_000;
/** Time limit for recording waiting events of other sessions. This work runs after the answer and at the end of a session. */
const OTHER_SESSIONS_LIMIT_MS = 100;
const SESSION_END_LIMIT_MS = 1_000;

interface EventFacts {
  projectFolder?: string;
  about?: HookEvent['about'];
  /** Spills the event. Absent before the event is read and after it is stored. */
  spill?: (why: string) => void;
}

/** An internal error goes to the fault log. Never rejects. `leave` ends the process with exit code 0. */
export async function runHook(stdin: Promise<Buffer>, leave: () => never): Promise<void> {
  const facts: EventFacts = {};
  spillAtFault(() => facts, leave);
  await handleSafely(async () => handleEvent(await stdin, facts, printAnswer), facts);
}

/** Like `runHook`, for a plugin: a line per event and per answer. Nothing is kept in between, so a killed process loses nothing. */
export async function runHookLines(leave: () => never): Promise<void> {
  let facts: EventFacts = {};
  let print: (answer: object) => void = () => undefined;
  spillAtFault(
    () => facts,
    () => {
      // The event is spilled, so it must not be sent again.
      print({});
      return leave();
    },
  );
  for await (const line of linesOf(process.stdin)) {
    const current: EventFacts = {};
    let isAnswered = false;
    facts = current;
    print = (answer) => {
      if (!isAnswered) printLine(answer);
      isAnswered = true;
    };
    await handleSafely(async () => handleEvent(line, current, print), current);
    print({});
  }
}

function printLine(answer: object): void {
  try {
    writeStdout(`${JSON.stringify({ [LINE_MARK]: answer })}\n`);
  } catch (error) {
    // The agent has ended.
    if (!hasCode(error, 'EPIPE')) throw error;
  }
}

function spillAtFault(facts: () => EventFacts, leave: () => never): void {
  const failAndLeave = (where: string, error: unknown): never => {
    logEventFault({ where, message: messageOf(error) }, facts());
    facts().spill?.(messageOf(error));
    return leave();
  };
  process.on('uncaughtException', (error) => failAndLeave('uncaught exception', error));
  process.on('unhandledRejection', (error) => failAndLeave('unhandled rejection', error));
}

async function handleSafely(handle: () => Promise<void>, facts: EventFacts): Promise<void> {
  try {
    await handle();
  } catch (error) {
    logEventFault({ where: 'hook', message: messageOf(error) }, facts);
  }
}

/** @param print  called once with the answer, when it is on disk; not called for an event that cannot be read */
async function handleEvent(bytes: Buffer, facts: EventFacts, print: (answer: object) => void): Promise<void> {
  const event = readHookEvent(bytes);
  if (event === undefined) {
    return logEventFault(
      { where: 'input', message: `standard input is not a JSON object (${bytes.length} bytes)` },
      facts,
    );
  }
  const { env } = process;
  // Only Claude Code's value is used, because other programs also set or inherit this variable.
  const projectDir = event.host === 'claude-code' ? env['CLAUDE_PROJECT_DIR'] : undefined;
  const projectFolder = projectFolderOf(event.cwd, projectDir);
  facts.projectFolder = projectFolder;
  facts.about = event.about;
  if (!isKnownEvent(event)) {
    // Only a notification about a permission says what no other event does.
    if (event.about.event === 'Notification') return;
    const message = `the event is unknown or lacks a required member (${bytes.length} bytes)`;
    return logEventFault({ where: 'input', message }, facts);
  }
  const homeFolder = findHomeFolder(env);
  const { resolved, problems, untrusted } = await hookConfig({ projectFolder, env, homeFolder });
  const onFault = (fault: HookFault): void => logEventFault(fault, facts);
  for (const problem of problems.slice(0, MAX_CONFIG_FAULTS)) {
    logEventFault({ where: 'config', message: JSON.stringify(problem) }, facts, true);
  }
  const { input } = event.known;
  const { store: place } = resolved;
  const ignored = untrustedText({ untrusted });
  const redactor = projectRedaction(resolved, onFault);
  const intake = new EventIntake({ storeAddress: place.address, redactor, clock: systemClock, onFault });
  facts.spill = (why) => void intake.spill(event, why);
  let openedStore: { readonly store: OneShotStore; readonly sessions: ClaudeSessions } | undefined;
  const open = async (): Promise<ClaudeSessions> => {
    const store = await openHookStore(place, { timeoutMs: TIME_LIMIT_MS });
    openedStore = { store, sessions: projectSessions(resolved, { store, projectFolder, redactor }) };
    return openedStore.sessions;
  };
  const { answer, faults } = await intake.take(event, open, () => delete facts.spill);
  delete facts.spill;
  for (const message of faults) logEventFault({ where: 'run', message }, facts);
  // At this point the advice is on disk.
  const isBeginning = input.kind === 'session_started' && !input.isAfterCompaction;
  print(isBeginning && ignored !== undefined ? { ...answer, systemMessage: `coxswain: ${ignored}` } : answer);
  if (openedStore !== undefined) {
    // Also record waiting events of other sessions, because those sessions may send no further event.
    const limitMs = input.kind === 'session_ended' ? SESSION_END_LIMIT_MS : OTHER_SESSIONS_LIMIT_MS;
    await intake.foldWaiting(openedStore.sessions, { limitMs });
    await openedStore.store.close();
  }
  if (input.kind === 'session_ended') {
    const { trimStore } = await import('./trim-store.ts');
    const program = findProgram(process.argv[1]);
    trimStore(place, { program, env });
    if (tellsLessons(resolved)) refreshLessons(projectFolder, { program, env });
  }
}

function printAnswer(answer: object): void {
  if (Object.keys(answer).length > 0) writeStdout(JSON.stringify(answer));
}

function findProgram(hookFile = ''): readonly string[] | undefined {
  const bin = basename(hookFile) === 'hook.cjs' ? join(dirname(hookFile), 'cli', 'bin.js') : hookFile;
  return basename(bin).startsWith('bin.') && existsSync(bin) ? [process.execPath, bin] : undefined;
}

function logEventFault(fault: HookFault, { projectFolder, about }: EventFacts, unlessKnown = false): void {
  logFault(
    { ...fault, ...about, message: faultText(fault.message) },
    { projectFolder, env: process.env, nowMs: systemClock.nowMs() },
    unlessKnown,
  );
}

/** @throws CoxswainError as `sqliteStore` and `openStore` */
async function openHookStore(
  { address, kind }: ResolvedStore,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<OneShotStore> {
  if (kind === 'sqlite') return sqliteOneShot(address, { timeoutMs });
  const { openStore } = await import('../../stores/registry/open-store.ts');
  return openStore(address, { waitMs: timeoutMs });
}
