import { expect, test } from 'vitest';
import type { Json } from '../../base/json.ts';
import { declareMcpTools, type ToolDeclaration } from '../calls/tool-semantics.ts';
import { makeStep, type Step } from './step.ts';

function stepOf(declaration: ToolDeclaration, args: Json, result: Json, isError = false): Step {
  const call = { index: 0, turn: 0, atMs: 0, tool: 'job_state', args, result, isError, resultMissing: false };
  return makeStep(call, { job_state: declaration });
}

test('with a loop key, only its arguments distinguish calls', () => {
  const declaration = { loopKey: ['job', 'filter.id'] };
  const keyOf = (args: Json): string => stepOf(declaration, args, 'ok').argsKey;
  expect(keyOf({ job: 7, note: 'first look' })).toBe(keyOf({ job: 7, note: 'again', trace: 'x1' }));
  expect(keyOf({ job: 7 })).not.toBe(keyOf({ job: 8 }));
  expect(keyOf({ job: 7, filter: { id: 1, at: 'a' } })).toBe(keyOf({ job: 7, filter: { id: 1, at: 'b' } }));
  expect(keyOf({ job: 7, filter: { id: 1 } })).not.toBe(keyOf({ job: 7, filter: { id: 2 } }));
});

test('if none of the arguments is present, all of them count', () => {
  const keyOf = (args: Json): string => stepOf({ loopKey: ['job'] }, args, 'ok').argsKey;
  expect(keyOf({ name: 'a' })).not.toBe(keyOf({ name: 'b' }));
  expect(keyOf('a')).not.toBe(keyOf('b'));
});

test('with a progress key, only its fields distinguish results', () => {
  const declaration = { progressKey: ['done', 'page.next'] };
  const keyOf = (result: Json, isError = false): string => stepOf(declaration, {}, result, isError).resultKey;
  expect(keyOf('{"done":3,"load":0.4}')).toBe(keyOf('{"done":3,"load":0.9,"hint":"x"}'));
  expect(keyOf('{"done":3}')).not.toBe(keyOf('{"done":4}'));
  expect(keyOf({ done: 3, load: 1 })).toBe(keyOf('{"done":3}'));
  expect(keyOf('{"page":{"next":1}}')).not.toBe(keyOf('{"page":{"next":2}}'));
  expect(keyOf('{"done":3}')).not.toBe(keyOf('{"done":3}', true));
});

test('a result without the fields, or that is not JSON, is compared as a whole', () => {
  const keyOf = (result: Json): string => stepOf({ progressKey: ['done'] }, {}, result).resultKey;
  expect(keyOf('{"load":1}')).not.toBe(keyOf('{"load":2}'));
  expect(keyOf('{broken')).not.toBe(keyOf('{broken too'));
});

test('annotations of an MCP server distinguish reads from changes, and a declared kind takes precedence', () => {
  const declared = declareMcpTools(
    [
      { name: 'op17', annotations: { readOnlyHint: true } },
      { name: 'op18', annotations: { readOnlyHint: false } },
      { name: 'get_and_lock', annotations: { destructiveHint: true } },
      { name: 'job_status', annotations: { readOnlyHint: true } },
      { name: 'op19' },
    ],
    'mcp__srv__',
  );
  const kindOf = (tool: string, more: Readonly<Record<string, ToolDeclaration>> = {}): string =>
    makeStep(
      { index: 0, turn: 0, atMs: 0, tool, args: {}, result: 'a long answer', isError: false, resultMissing: false },
      { ...declared, ...more },
    ).kind;
  expect(kindOf('mcp__srv__op17')).toBe('read');
  expect(kindOf('mcp__srv__op18')).toBe('write');
  expect(kindOf('mcp__srv__get_and_lock')).toBe('write');
  expect(kindOf('mcp__srv__job_status')).toBe('poll');
  expect(kindOf('mcp__srv__op19')).toBe('unknown');
  expect(kindOf('mcp__srv__op17', { mcp__srv__op17: { kind: 'note', annotations: { readOnlyHint: true } } })).toBe(
    'note',
  );
});

test('a tool that is named like a member of every object has no declaration', () => {
  const call = { index: 0, turn: 0, atMs: 0, args: {}, result: 'x', isError: false, resultMissing: false };
  expect(makeStep({ ...call, tool: 'constructor' }, {}).kind).toBe('unknown');
});

test('an explanation next to other arguments does not distinguish calls, an explanation alone does', () => {
  const keyOf = (args: Json): string => stepOf({}, args, 'x').argsKey;
  expect(keyOf({ path: 'a.rb', explanation: 'look first' })).toBe(keyOf({ path: 'a.rb', explanation: 'once more' }));
  expect(keyOf({ thought: 'one' })).not.toBe(keyOf({ thought: 'two' }));
});
