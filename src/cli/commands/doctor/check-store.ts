import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { messageOf } from '../../../base/error.ts';
import type { ResolvedStore } from '../../../config/resolved-config.ts';
import { DEFAULT_MAX_STORE_BYTES } from '../../../store/collect-garbage.ts';
import { RECORDS_FOLDER } from '../../../store/records-folder.ts';
import { openStore } from '../../../store/registry/open-store.ts';
import { shownStore } from '../../runs/open-store.ts';
import { bytesText } from '../../terminal/number-text.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';
import { runLimited } from '../../../base/run-limited.ts';

/** Less room than this on the disk is a failure. */
const MIN_FREE_BYTES = 100_000_000;
const VERIFY_LIMIT_MS = 10_000;
const ANSWER_LIMIT_MS = 2_000;

/** Whether the store can be written, by nobody else, and is whole as far as that is found out in ten seconds. */
export async function checkStore(store: ResolvedStore, cwd: string): Promise<readonly DoctorLine[]> {
  const { address: path, kind } = store;
  if (kind === 'postgres') return [...(await answering(store)), await verified(store, cwd)];
  if (!existsSync(path)) {
    const found = `${path} (${kind}) is not there: nothing was recorded yet`;
    return [
      unknown('store', found, 'It is made with the first record; run coxswain doctor again then.'),
      freeSpace(path),
    ];
  }
  return [writable(store), permissions(store), freeSpace(path), ...tooLarge(store), await verified(store, cwd)];
}

/** Whether the server answers and its schema may be written. */
async function answering({ address }: ResolvedStore): Promise<readonly DoctorLine[]> {
  const shown = shownStore(address);
  try {
    const store = await openStore(address, { waitMs: ANSWER_LIMIT_MS });
    try {
      await store.listRuns({ limit: 1 });
    } finally {
      await store.close();
    }
    return [passed('store', `${shown} answers`)];
  } catch (error) {
    return [failed('store', `${shown}: ${messageOf(error)}`, 'Look whether the server runs and lets this user in.')];
  }
}

function writable({ address: path, kind }: ResolvedStore): DoctorLine {
  try {
    for (const place of [path, dirname(path)]) accessSync(place, constants.W_OK);
    return passed('store', `${path} (${kind}) may be written`);
  } catch (error) {
    return failed('store', messageOf(error), `Run: chmod u+w ${shellWord(path)} ${shellWord(dirname(path))}`);
  }
}

/** Records hold what agents read and wrote: they are for their owner only. */
function permissions({ address: path }: ResolvedStore): DoctorLine {
  if (process.platform === 'win32') return unknown('store permissions', 'not looked at on Windows', 'Nothing to do.');
  const folder = dirname(path);
  const places = [path, `${path}-wal`, `${path}-shm`, ...(basename(folder) === RECORDS_FOLDER ? [folder] : [])];
  try {
    const open = places.filter((place) => ((statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
    if (open.length === 0) return passed('store permissions', 'for their owner only');
    return failed(
      'store permissions',
      `others may read ${open.join(', ')}`,
      `Run: chmod -R go-rwx ${shellWord(folder)}`,
    );
  } catch (error) {
    return failed('store permissions', messageOf(error), `Run: chmod u+rx ${shellWord(folder)}`);
  }
}

function freeSpace(path: string): DoctorLine {
  try {
    let folder = path;
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    if (free >= MIN_FREE_BYTES) return passed('free space', bytesText(free));
    return failed(
      'free space',
      `${bytesText(free)} on the disk of ${folder}`,
      'Make room, for instance with coxswain gc.',
    );
  } catch (error) {
    return unknown('free space', messageOf(error), 'Look at the disk yourself.');
  }
}

/** Only where it is: sessions trim a store in its default place by themselves, once a day. */
function tooLarge({ address: path }: ResolvedStore): readonly DoctorLine[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= DEFAULT_MAX_STORE_BYTES) return [];
  const found = `${bytesText(size)}, more than ${bytesText(DEFAULT_MAX_STORE_BYTES)}`;
  return [unknown('store size', found, `Run coxswain gc ${shellWord(path)} if the oldest runs may go.`)];
}

/** In a process of its own, which can be ended: a large store takes longer than anybody waits here. */
async function verified({ address }: ResolvedStore, cwd: string): Promise<DoctorLine> {
  const check = 'store contents';
  const bin = fileURLToPath(new URL(`../../bin${extname(import.meta.url)}`, import.meta.url));
  const { code, stdout, stderr, timedOut } = await runLimited({
    command: process.execPath,
    args: [bin, 'verify', '--json'],
    cwd,
    // Every user of the machine sees the arguments of a process.
    env: { ...process.env, COXSWAIN_STORE: address },
    limitMs: VERIFY_LIMIT_MS,
  });
  const command = `coxswain verify ${shellWord(shownStore(address))}`;
  if (timedOut) return unknown(check, `not all read in ${VERIFY_LIMIT_MS / 1000} seconds`, `Run: ${command}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (code === 0) return passed(check, `all read, nothing is wrong: ${lines.at(-1) ?? ''}`);
  const said = (lines.length > 1 ? (lines[0] ?? '') : stderr.trim()).slice(0, 300);
  return failed(check, said === '' ? `${command} ended with code ${code}` : said, `Run: ${command}`);
}
