import { expect, test } from 'vitest';
import { recordedRun } from '../../../test/support/recorded-run.ts';
import { RunScope } from './run-scope.ts';

test('outside any tool everything belongs to the run itself', () => {
  const { run } = recordedRun();
  const scope = new RunScope(() => run);
  expect([scope.calling === run, scope.asking === run]).toEqual([true, true]);
});

test('model requests within a tool belong to one child, which has its own tools and ends with the tool', async () => {
  const { run, recorded, below } = recordedRun();
  const scope = new RunScope(() => run);
  await scope.within(run, 'research', async () => {
    expect(scope.calling).toBe(run);
    const child = scope.asking;
    await Promise.resolve();
    expect([child.depth, scope.asking === child, scope.calling === child]).toEqual([1, true, true]);
    expect(child.isEnded).toBe(false);
  });
  const [id = ''] = await below();
  expect(await recorded('run_started', id)).toMatchObject([{ identity: { agent_name: 'research', depth: 1 } }]);
  expect(await recorded('run_ended', id)).toMatchObject([{ outcome: 'ended' }]);
});

test('a tool without model requests starts no child, and its error is rethrown', async () => {
  const { run, below, recorded } = recordedRun();
  const scope = new RunScope(() => run);
  const error = new DOMException('stop', 'AbortError');
  const fails = scope.within(run, 'plain', () => {
    throw error;
  });
  await expect(fails).rejects.toBe(error);
  expect(await below()).toEqual([]);
  const aborted = scope.within(run, 'asking', async () => {
    expect(scope.asking.depth).toBe(1);
    throw error;
  });
  await expect(aborted).rejects.toBe(error);
  const [id = ''] = await below();
  expect(await recorded('run_ended', id)).toMatchObject([{ outcome: 'aborted' }]);
});

test('concurrent tools have separate children', async () => {
  const { run, below } = recordedRun();
  const scope = new RunScope(() => run);
  const ask = async (): Promise<string> => {
    const { id } = scope.asking;
    await Promise.resolve();
    expect(scope.asking.id).toBe(id);
    return id;
  };
  const ids = await Promise.all([scope.within(run, 'a', ask), scope.within(run, 'b', ask)]);
  expect(ids.toSorted()).toEqual(await below());
});

test('a tool that cannot be wrapped has its own child, separate from a concurrent one', async () => {
  const { run, below, recorded } = recordedRun();
  const scope = new RunScope(() => run);
  // Like an SDK: each tool in a separate task, which reports it and then runs it.
  const tool = async (name: string): Promise<readonly string[]> => {
    await Promise.resolve();
    const leave = scope.enter(run, name);
    await Promise.resolve();
    const { id } = scope.asking;
    leave();
    return [id, scope.asking.id];
  };
  const ids = await Promise.all([tool('a'), tool('b')]);
  expect(ids).toEqual((await below()).map((id) => [id, run.id]));
  expect(scope.asking).toBe(run);
  expect(await recorded('run_ended', ids[0]?.[0])).toMatchObject([{ outcome: 'ended' }]);
});
