import { expect, test } from 'vitest';
import { recordedRun } from '../../test/support/recorded-run.ts';
import { RunScope } from './run-scope.ts';

test('outside of a tool everything belongs to the run itself', () => {
  const { run } = recordedRun();
  const scope = new RunScope(() => run);
  expect([scope.calling === run, scope.asking === run]).toEqual([true, true]);
});

test('what asks a model within a tool is one child, whose tools are its own, and which ends with the tool', async () => {
  const { run, told, below } = recordedRun();
  const scope = new RunScope(() => run);
  await scope.within(run, 'research', async () => {
    expect(scope.calling).toBe(run);
    const child = scope.asking;
    await Promise.resolve();
    expect([child.depth, scope.asking === child, scope.calling === child]).toEqual([1, true, true]);
    expect(child.isEnded).toBe(false);
  });
  const [id = ''] = await below();
  expect(await told('run_started', id)).toMatchObject([{ identity: { agent_name: 'research', depth: 1 } }]);
  expect(await told('run_ended', id)).toMatchObject([{ outcome: 'ended' }]);
});

test('a tool that asks no model starts no child, and what it throws goes through', async () => {
  const { run, below, told } = recordedRun();
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
  expect(await told('run_ended', id)).toMatchObject([{ outcome: 'aborted' }]);
});

test('tools at work at the same time have children of their own', async () => {
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

test('a tool that can only be told of has its child too, apart from the one beside it', async () => {
  const { run, below, told } = recordedRun();
  const scope = new RunScope(() => run);
  // As an SDK does: each tool in a task of its own, which tells of it and then runs it.
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
  expect(await told('run_ended', ids[0]?.[0])).toMatchObject([{ outcome: 'ended' }]);
});
