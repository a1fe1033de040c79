import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';

import { runScript } from '../../../test/support/run-script.ts';
import { simulatedDisk } from '../../../test/support/simulated-disk.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { nodeFileSystem } from '../file-system.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { processIdentity } from '../lock-identity.ts';
import type { LockHolder, LockIdentity } from '../lock-identity.ts';
import { takeRunLock } from './run-lock.ts';

const HOLDER: LockHolder = { host: 'h', boot: 'b', pid: 7, processStart: '', token: 't', sinceMs: 1e12 };
let locks = 0;

function identity(alive: boolean): LockIdentity {
  return { holder: () => ({ ...HOLDER, token: `0-${(locks += 1)}` }), mayBeAlive: () => alive };
}

async function inMemory(): Promise<RunFiles> {
  const { fileSystem } = simulatedDisk();
  await fileSystem.makeFolder('/run');
  return { fileSystem, folder: '/run' };
}

async function onDisk(): Promise<RunFiles> {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  return { fileSystem: nodeFileSystem, folder: folder.path };
}

test('a lock is held by one, whose name the refusal tells, until it is released', async () => {
  const run = await onDisk();
  const options = { identity: processIdentity, waitMs: 0 };
  const lock = await takeRunLock(run, options);
  await expect(takeRunLock(run, options)).rejects.toMatchObject({
    code: 'store-io',
    message: expect.stringMatching(new RegExp(`is being written by process ${process.pid} on .* since 20`)),
    details: { holder: { pid: process.pid } },
  });
  await lock.release();
  for (let round = 0; round < 5; round += 1) await (await takeRunLock(run, options)).release();
  expect((await run.fileSystem.list(run.folder)).length).toBeLessThanOrEqual(2);
});

test('who waits gets the lock when it is released', async () => {
  const run = await inMemory();
  const lock = await takeRunLock(run, { identity: identity(true), waitMs: 0 });
  const waiting = takeRunLock(run, { identity: identity(true), waitMs: 170_000 });
  let isReleased = false;
  setTimeout(() => {
    isReleased = true;
    void lock.release();
  }, 30);
  const taken = await waiting;
  expect(isReleased).toBe(true);
  await taken.release();
});

test('a lock whose holder is gone is taken over, by one of many that try at once', async () => {
  for (let round = 0; round < 50; round += 1) {
    const run = round < 25 ? await inMemory() : await onDisk();
    await takeRunLock(run, { identity: identity(true), waitMs: 0 });
    const all = Array.from({ length: 8 }, async () => {
      // Gone is the first holder, not those of this round.
      const mayBeAlive = ({ token }: LockHolder): boolean => token.startsWith('new');
      const holder = (): LockHolder => ({ ...HOLDER, token: `new-${(locks += 1)}` });
      return takeRunLock(run, { identity: { holder, mayBeAlive }, waitMs: 0 });
    });
    const won = (await Promise.allSettled(all)).filter((one) => one.status === 'fulfilled');
    expect(won).toHaveLength(1);
  }
});

test('many that take and release in turns are never two at a time', async () => {
  const run = await onDisk();
  let inside = 0;
  const one = async (): Promise<void> => {
    for (let turn = 0; turn < 25; turn += 1) {
      const lock = await takeRunLock(run, { identity: processIdentity, waitMs: 170_000 });
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      await lock.release();
    }
  };
  await Promise.all(Array.from({ length: 6 }, one));
});

test('a lock without readable content is one of a power cut only when it is old', async () => {
  const run = await onDisk();
  const file = await run.fileSystem.open(`${run.folder}/lock-00000004`, 'create');
  await file.close();
  await expect(takeRunLock(run, { identity: identity(false), waitMs: 0 })).rejects.toMatchObject({ code: 'store-io' });
  const { utimes } = await import('node:fs/promises');
  await utimes(`${run.folder}/lock-00000004`, 1, 1);
  await takeRunLock(run, { identity: identity(false), waitMs: 0 });
});

test('a holder elsewhere keeps its lock while it gives signs of life, and loses it after ten minutes without', async () => {
  const run = await onDisk();
  const elsewhere: LockIdentity = { ...identity(true), holder: () => ({ ...HOLDER, host: 'a container', token: 'c' }) };
  const lock = await takeRunLock(run, { identity: elsewhere, waitMs: 0 });
  const file = `${run.folder}/lock-00000001`;
  const { utimes } = await import('node:fs/promises');
  const modified = async (secondsAgo: number): Promise<void> => {
    const at = new Date(Date.now() - secondsAgo * 1_000);
    await utimes(file, at, at);
  };
  await modified(300);
  await expect(takeRunLock(run, { identity: identity(true), waitMs: 0 })).rejects.toMatchObject({ code: 'store-io' });
  await modified(601);
  await takeRunLock(run, { identity: identity(true), waitMs: 0 });
  const wake = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  onTestFinished(() => wake.mockRestore());
  await expect(lock.keep()).rejects.toMatchObject({ code: 'store-io', message: expect.stringContaining('taken over') });
});

test('a lock of the same name in a run that was deleted and begun again is not the holder`s', async () => {
  const run = await onDisk();
  const lock = await takeRunLock(run, { identity: identity(true), waitMs: 0 });
  await run.fileSystem.remove(`${run.folder}/lock-00000001`);
  await takeRunLock(run, { identity: identity(true), waitMs: 0 });
  const wake = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  onTestFinished(() => wake.mockRestore());
  await expect(lock.keep()).rejects.toMatchObject({ code: 'store-io', message: expect.stringContaining('taken over') });
});

test('a holder that was suspended and still has its lock goes on', async () => {
  const run = await onDisk();
  const lock = await takeRunLock(run, { identity: identity(true), waitMs: 0 });
  expect(lock.keep()).toBeUndefined();
  const wake = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  onTestFinished(() => wake.mockRestore());
  await lock.keep();
  expect(lock.keep()).toBeUndefined();
  await expect(takeRunLock(run, { identity: identity(true), waitMs: 0 })).rejects.toMatchObject({
    details: { holder: { pid: HOLDER.pid } },
  });
});

test.each([-1, 0, 0.5, Number.NaN, 2 ** 31, 2 ** 53])('a holder with the process id %d is no process', (pid) => {
  const own = processIdentity.holder();
  expect(processIdentity.mayBeAlive({ ...own, pid })).toBe(false);
  expect(processIdentity.mayBeAlive({ ...own, host: 'elsewhere', pid })).toBe(false);
});

test('a lock is free also when the disk has no room for a name', async () => {
  const disk = simulatedDisk();
  await disk.fileSystem.makeFolder('/run');
  const lock = await takeRunLock(
    { fileSystem: disk.fileSystem, folder: '/run' },
    { identity: identity(true), waitMs: 0 },
  );
  disk.faults.before = (operation) => {
    if (operation === 'link') throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  };
  await lock.release();
  expect(disk.read('/run/lock-00000001').length).toBe(0);
});

test('a holder is gone when its process, its start or the start of its machine is another one', async () => {
  const own = processIdentity.holder();
  expect(processIdentity.mayBeAlive(own)).toBe(true);
  expect(processIdentity.mayBeAlive({ ...own, host: 'elsewhere', pid: 1 })).toBe(true);
  const { child, ended } = runScript('process.exit()', []);
  await ended;
  expect(processIdentity.mayBeAlive({ ...own, pid: child.pid ?? 0 })).toBe(false);
});

test.skipIf(process.platform !== 'linux')(
  'a pid that was given away again is known (Linux tells when a process began)',
  () => {
    const own = processIdentity.holder();
    expect(processIdentity.mayBeAlive({ ...own, processStart: '1' })).toBe(false);
    expect(processIdentity.mayBeAlive({ ...own, boot: 'before' })).toBe(false);
  },
);

test.skipIf(process.platform !== 'linux')(
  'a process that has ended and that nobody has asked about is gone',
  async () => {
    // It ends once the shell has been replaced by a program that asks about none of its children.
    const wait = "sh -c 'until grep -q sleep /proc/'$$'/comm; do sleep 0.02; done'";
    const child = spawn('sh', ['-c', `${wait} & echo $!; exec sleep 30`], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = await once(child.stdout, 'data');
    const pid = Number(String(line));
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1')).toContain(') Z ');
    const own = processIdentity.holder();
    expect(processIdentity.mayBeAlive({ ...own, pid, processStart: '' })).toBe(false);
  },
);

test('who was slow and makes a lock whose number is past does not hold it', async () => {
  const disk = simulatedDisk();
  await disk.fileSystem.makeFolder('/run');
  const run: RunFiles = { fileSystem: disk.fileSystem, folder: '/run' };
  const [gate, atGate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let links = 0;
  disk.faults.before = (operation) => {
    if (operation !== 'link') return undefined;
    links += 1;
    if (links > 1) return undefined;
    atGate.resolve();
    return gate.promise;
  };
  // A token that no cleaning knows, so that the unfinished lock is still there when it is wanted.
  const slowIdentity = { holder: () => ({ ...HOLDER, token: 'slow' }), mayBeAlive: () => true };
  const slow = takeRunLock(run, { identity: slowIdentity, waitMs: 0 });
  await atGate.promise;
  await (await takeRunLock(run, { identity: identity(true), waitMs: 0 })).release();
  await takeRunLock(run, { identity: identity(true), waitMs: 0 });
  gate.resolve();
  await expect(slow).rejects.toMatchObject({ code: 'store-io' });
  await expect(disk.fileSystem.list('/run')).resolves.toEqual(['lock-00000002']);
});
