import { bytesText } from '../../../core/base/number-text.ts';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../../core/base/error.ts';
import { MAKE_WRITABLE, whyNotWritable } from '../../../core/node/guarded-file.ts';
import { isProjectStore } from '../../../core/node/git-folder.ts';
import { stateRoot, type StatePlaces } from '../../../core/node/state-places.ts';
import type { ResolvedStore } from '../../../hosts/config/resolve-config.ts';
import { CANARY_PREFIX } from '../../../hosts/claude-code/spilled-events.ts';
import { DEFAULT_MAX_STORE_BYTES } from '../../../stores/collect-garbage.ts';
import { openStore } from '../../../stores/registry/open-store.ts';
import { storePath } from '../../../stores/store-address.ts';
import { shownStore } from '../../runs/open-store.ts';
import { shellWord } from '../../terminal/time-text.ts';
import { failed, passed, unknown, type DoctorLine, HOST_LIMIT_MS, resolveWithin } from './doctor-line.ts';
import { runLimited } from '../../../core/node/run-limited.ts';
import { spillNote } from '../../runs/problems.ts';
import { randomBytes } from 'node:crypto';
import { faultOwners, readFaults } from '../../../core/node/fault-log.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';

const MIN_FREE_BYTES = 100_000_000;
const VERIFY_LIMIT_MS = 10_000;
const RESPONSE_LIMIT_MS = 2_000;

export async function checkStore(store: ResolvedStore, cwd: string): Promise<readonly DoctorLine[]> {
  const { address, kind } = store;
  const path = storePath(address);
  if (path === undefined) return [await checkServer(store), await checkContents(store, cwd)];
  if (!existsSync(path)) {
    const why = whyNotWritable(dirname(path));
    const line =
      why === undefined
        ? unknown(
            'store',
            `${path} (${kind}) does not exist: nothing was recorded yet`,
            'The first record creates it; run coxswain doctor again then.',
          )
        : failed('store', `${path} (${kind}) cannot be created: ${why}`, MAKE_WRITABLE);
    return [line, checkFreeSpace(path)];
  }
  return [
    checkWritable(path, kind),
    checkPermissions(path),
    checkFreeSpace(path),
    ...checkSize(path),
    await checkContents(store, cwd),
  ];
}

async function checkServer({ address }: ResolvedStore): Promise<DoctorLine> {
  const shownAddress = shownStore(address);
  try {
    const store = await openStore(address, { waitMs: RESPONSE_LIMIT_MS });
    try {
      await store.listRuns({ limit: 1 });
    } finally {
      await store.close();
    }
    return passed('store', `${shownAddress} responds`);
  } catch (error) {
    return failed('store', `${shownAddress}: ${messageOf(error)}`, 'Check that the server runs and accepts this user.');
  }
}

export function checkStateFolder(places: StatePlaces): readonly DoctorLine[] {
  const folder = stateRoot(places);
  const why = whyNotWritable(folder);
  if (why === undefined) return [];
  return [failed('state folder', `${folder}, for settings, faults and notifications: ${why}`, MAKE_WRITABLE)];
}

function checkWritable(path: string, kind: string): DoctorLine {
  const why = whyNotWritable(dirname(path));
  if (why !== undefined) return failed('store', why, MAKE_WRITABLE);
  try {
    accessSync(path, constants.W_OK);
    return passed('store', `${path} (${kind}) is writable`);
  } catch (error) {
    return failed('store', messageOf(error), `Run: chmod u+w ${shellWord(path)}`);
  }
}

function checkPermissions(path: string): DoctorLine {
  if (process.platform === 'win32') return unknown('store permissions', 'not checked on Windows', 'Nothing to do.');
  const folder = dirname(path);
  const places = [path, `${path}-wal`, `${path}-shm`, ...(isProjectStore(path, { env: process.env }) ? [folder] : [])];
  try {
    const open = places.filter((place) => ((statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
    if (open.length === 0) return passed('store permissions', 'only for the owner');
    const fix = `Run: chmod -R go-rwx ${shellWord(folder)}`;
    return failed('store permissions', `other users can read ${open.join(', ')}`, fix);
  } catch (error) {
    return failed('store permissions', messageOf(error), `Run: chmod u+rx ${shellWord(folder)}`);
  }
}

function checkFreeSpace(path: string): DoctorLine {
  try {
    let folder = path;
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
    const { bavail, bsize } = statfsSync(folder);
    const freeBytes = bavail * bsize;
    if (freeBytes >= MIN_FREE_BYTES) return passed('free space', bytesText(freeBytes));
    const found = `${bytesText(freeBytes)} on the disk of ${folder}`;
    return failed('free space', found, 'Free some space, for example with coxswain gc.');
  } catch (error) {
    return unknown('free space', messageOf(error), 'Check the disk yourself.');
  }
}

function checkSize(path: string): readonly DoctorLine[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= DEFAULT_MAX_STORE_BYTES) return [];
  const found = `${bytesText(size)}, more than ${bytesText(DEFAULT_MAX_STORE_BYTES)}`;
  return [unknown('store size', found, `Run coxswain gc ${shellWord(path)} to delete the oldest runs.`)];
}

/** Verifies the contents in a separate process that can be killed, because a large store may take too long. */
async function checkContents({ address }: ResolvedStore, cwd: string): Promise<DoctorLine> {
  const check = 'store contents';
  const bin = fileURLToPath(new URL(`../../bin${extname(import.meta.url)}`, import.meta.url));
  const { code, stdout, stderr, timedOut } = await runLimited({
    command: process.execPath,
    args: [bin, 'verify'],
    cwd,
    // Passes the address in the environment. It may contain a password, and every user can read the arguments of a process.
    env: { ...process.env, COXSWAIN_STORE: address },
    limitMs: VERIFY_LIMIT_MS,
  });
  const command = `coxswain verify ${shellWord(shownStore(address))}`;
  if (timedOut) return unknown(check, `not verified in ${VERIFY_LIMIT_MS / 1000} seconds`, `Run: ${command}`);
  if (code === 0) return passed(check, /[\d,]+ runs?, [\d,]+ records? checked: .*/.exec(stdout)?.[0] ?? stdout.trim());
  const problem = (stderr.split('\n')[0] ?? '').replace(/^coxswain: /, '').slice(0, 300);
  const path = storePath(address);
  if (path !== undefined && problem.includes(' is not an SQLite database'))
    return failed(
      check,
      `the store file is damaged: ${path} is not an SQLite database`,
      `Move it away: mv ${shellWord(path)} ${shellWord(`${path}.damaged`)}. The next event begins a new store and records what is spilled.`,
    );
  return failed(check, problem === '' ? `${command} exited with code ${code}` : problem, `Run: ${command}`);
}

/** Checks the hook events in spill files. Waiting events are normal under load. Damaged or rejected events fail the check. */
export function checkSpills(storeAddress: string): DoctorLine {
  const check = 'spilled events';
  const { unusable, waiting } = spillNote(storeAddress);
  if (unusable !== undefined) {
    const found = waiting === undefined ? unusable : `${unusable}; ${waiting}`;
    return failed(check, found, 'They cannot be read: see “problems noticed”. Then delete these files.');
  }
  if (waiting === undefined) return passed(check, 'none');
  return unknown(check, waiting, 'The next event records them. If they stay, see “problems noticed”.');
}

const SHOWN_CHARS = 300;

interface CanarySetup {
  readonly projectFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly openStore: () => Promise<TrajectoryStore>;
}

/** Runs a hook command as Claude Code does. Passes if the event was recorded. Always deletes the run. */
export async function sendCanary(command: string, setup: CanarySetup): Promise<DoctorLine> {
  const { env, projectFolder } = setup;
  const sessionId = CANARY_PREFIX + randomBytes(6).toString('hex');
  const event = {
    session_id: sessionId,
    cwd: projectFolder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'A test event of coxswain doctor.',
  };
  const result = await runLimited({
    command,
    cwd: projectFolder,
    env: { ...env, CLAUDE_PROJECT_DIR: projectFolder },
    stdin: JSON.stringify(event),
    limitMs: HOST_LIMIT_MS,
  });
  const storedCanary = await lookForCanary(sessionId, setup);
  const check = 'hook alive';
  const shownCommand = command.slice(0, SHOWN_CHARS);
  const fix = 'Run coxswain init claude-code again; “problems noticed” below may name the cause.';
  const durationText = `${Math.round(result.durationMs)} ms`;
  if (result.error !== undefined) return failed(check, `${shownCommand} did not start: ${result.error}`, fix);
  if (result.timedOut) {
    const found = `${shownCommand} did not end in ${HOST_LIMIT_MS / 1000} seconds, after which Claude Code ends it`;
    return failed(check, found, `If the machine is busy, run coxswain doctor again later. Otherwise: ${fix}`);
  }
  if (result.code !== 0) {
    const output = result.stderr.trim().slice(0, SHOWN_CHARS);
    return failed(check, `${shownCommand} exited with code ${result.code}${output === '' ? '' : `: ${output}`}`, fix);
  }
  if (storedCanary.problem !== undefined)
    return failed(
      check,
      `${shownCommand}: ${storedCanary.problem}`,
      'The hook runs; the store does not take its events.',
    );
  if (!storedCanary.found) {
    const fault = faultOwners(setup)
      .flatMap(readFaults)
      .findLast((line) => line.sessionId === sessionId);
    const faultText = fault === undefined ? '' : `: ${fault.where}: ${fault.message}`;
    return failed(check, `${shownCommand} ran in ${durationText} but recorded nothing${faultText}`, fix);
  }
  return passed(check, `an event sent through the hook was recorded in ${durationText}: ${shownCommand}`);
}

/** Project settings may come from the repository, and the hook is not that of this installation. */
export function notTried(hook: string): DoctorLine {
  return unknown(
    'hook alive',
    `not tried, because it is in the project settings and is not the hook of this coxswain: ${hook.slice(0, SHOWN_CHARS)}`,
    'If you did not write it, remove it; run coxswain init claude-code for the hook of this coxswain.',
  );
}

async function lookForCanary(
  runId: string,
  { openStore: openOwn }: Pick<CanarySetup, 'openStore'>,
): Promise<{ readonly found: boolean; readonly problem?: string }> {
  const findAndDelete = async (): Promise<boolean> => {
    const store = await openOwn();
    try {
      const summary = await store.findRun(runId);
      await store.deleteRun(runId);
      return summary !== undefined;
    } finally {
      await store.close();
    }
  };
  try {
    const foundCanary = await resolveWithin(findAndDelete(), HOST_LIMIT_MS, undefined);
    if (foundCanary !== undefined) return { found: foundCanary };
    const problem = `the store did not respond in ${HOST_LIMIT_MS / 1000} seconds; run ${runId} may remain in it`;
    return { found: false, problem };
  } catch (error) {
    return { found: false, problem: messageOf(error) };
  }
}
