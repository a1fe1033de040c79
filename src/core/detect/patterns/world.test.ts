import { expect, test } from 'vitest';
import { makeStep, type Step } from './step.ts';
import { World } from './world.ts';

function stepOf(tool: string, args: string, result = 'something to read'): Step {
  const call = { index: 0, turn: 0, atMs: 0, tool, args: { path: args }, isError: false, resultMissing: false };
  return makeStep({ ...call, result }, {});
}

test('a call is new once an epoch, and again after a change', () => {
  const world = new World();
  expect(world.observe(stepOf('read', 'a'))).toMatchObject({ epoch: 0, advanced: false, novel: true });
  expect(world.observe(stepOf('read', 'a')).novel).toBe(false);
  expect(world.observe(stepOf('write', 'f', 'ok'))).toMatchObject({ epoch: 1, advanced: true, novel: true });
  expect(world.observe(stepOf('read', 'a')).novel).toBe(true);
});

test('a repeated change does not start an epoch', () => {
  const world = new World();
  world.observe(stepOf('write', 'f', 'ok'));
  expect(world.observe(stepOf('write', 'f', 'ok'))).toMatchObject({ epoch: 1, advanced: false, novel: false });
});

test('the same change with another result starts an epoch', () => {
  const world = new World();
  world.observe(stepOf('write', 'f', 'saved, 20 left'));
  expect(world.observe(stepOf('write', 'f', 'saved, 10 left')).advanced).toBe(true);
});

test('a change that failed or changed nothing does not start an epoch', () => {
  const world = new World();
  expect(world.observe(stepOf('write', 'f', 'Error: disk full')).advanced).toBe(false);
  expect(world.observe(stepOf('write', 'f', 'No changes detected')).advanced).toBe(false);
});

test('a message of the user starts an epoch', () => {
  const world = new World();
  world.observe(stepOf('read', 'a'));
  world.noteUserMessage();
  expect(world.observe(stepOf('read', 'a'))).toMatchObject({ epoch: 1, advanced: false, novel: true });
});

test('it continues from its snapshot and remembers at most 512 of each kind', () => {
  const world = new World();
  for (let at = 0; at < 600; at += 1) world.observe(stepOf('read', `file-${at}`));
  const copy = new World(world.snapshot());
  expect(copy.observe(stepOf('read', 'file-599')).novel).toBe(false);
  expect(copy.observe(stepOf('read', 'file-0')).novel).toBe(true);
  expect(world.snapshot().seen.length).toBe(512);
});

test('a repeated change is not new in a later epoch', () => {
  const world = new World();
  world.observe(stepOf('write', 'a', 'ok'));
  world.observe(stepOf('write', 'b', 'ok'));
  expect(world.observe(stepOf('write', 'a', 'ok'))).toMatchObject({ epoch: 2, advanced: false, novel: false });
});
