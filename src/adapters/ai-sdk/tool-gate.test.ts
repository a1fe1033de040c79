import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveGates, type GateOpinion } from './tool-gate.ts';

const tool: fc.Arbitrary<string> = fc.constantFrom('read', 'write', 'search', 'run', 'ask');
const available = fc.uniqueArray(tool);
const opinions: fc.Arbitrary<GateOpinion[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    class: fc.constantFrom('required' as const, 'advisory' as const),
    priority: fc.integer({ min: 0, max: 3 }),
    allow: fc.uniqueArray(fc.oneof(tool, fc.constant('no such tool'))),
  }),
  { selector: ({ name }) => name },
);

function gate(name: string, allow: readonly string[], more: Partial<GateOpinion> = {}): GateOpinion {
  return { name, allow, class: 'advisory', priority: 100, ...more };
}

test('allowlists intersect, in the order in which the tools are available', () => {
  const lists = [gate('a', ['write', 'read', 'run']), gate('b', ['run', 'write'])];
  expect(resolveGates(lists, ['read', 'write', 'run'])).toEqual({ allow: ['write', 'run'] });
});

test('no tool is offered that is not there, and some are offered whenever there are some', () => {
  fc.assert(
    fc.property(opinions, available, (lists, tools) => {
      const { allow } = resolveGates(lists, tools);
      expect(allow).toEqual(tools.filter((name) => allow.includes(name)));
      expect(allow.length > 0).toBe(tools.length > 0);
    }),
  );
});

test('without a conflict exactly that is offered which every list allows', () => {
  fc.assert(
    fc.property(opinions, available, (lists, tools) => {
      const { allow, conflict } = resolveGates(lists, tools);
      const common = tools.filter((name) => lists.every((list) => list.allow.includes(name)));
      expect(conflict === undefined).toBe(common.length > 0 || tools.length === 0);
      expect(conflict === undefined ? allow : common).toEqual(common);
    }),
  );
});

test('in a conflict no gate before the winner could have won', () => {
  fc.assert(
    fc.property(opinions, available, (lists, tools) => {
      const { allow, conflict } = resolveGates(lists, tools);
      if (conflict === undefined) return;
      const able = lists.filter((list) => list.allow.some((name) => tools.includes(name)));
      const winner = lists.find(({ name }) => name === conflict.chosenPlugin);
      expect(winner === undefined).toBe(able.length === 0);
      if (winner === undefined) return;
      expect(allow).toEqual(tools.filter((name) => winner.allow.includes(name)));
      for (const other of able.filter((list) => list !== winner)) {
        const rank = [
          other.priority - winner.priority,
          other.class === winner.class ? 0 : winner.class === 'required' ? 1 : -1,
        ];
        expect(rank[0] !== 0 ? Number(rank[0]) > 0 : rank[1] !== 0 ? rank[1] === 1 : other.name > winner.name).toBe(
          true,
        );
      }
    }),
  );
});

test('the order in which gates are given does not matter', () => {
  fc.assert(
    fc.property(opinions, available, (lists, tools) => {
      expect(resolveGates(lists.toReversed(), tools)).toEqual(resolveGates(lists, tools));
    }),
  );
});

test.each([
  ['priority', [gate('a', ['read']), gate('b', ['run'], { priority: 1 })], 'b', ['run']],
  ['class', [gate('a', ['read']), gate('b', ['run'], { class: 'required' })], 'b', ['run']],
  [
    'priority before class',
    [gate('a', ['read'], { priority: 1 }), gate('b', ['run'], { class: 'required' })],
    'a',
    ['read'],
  ],
  ['name', [gate('b', ['run']), gate('a', ['read'])], 'a', ['read']],
] as const)('a conflict is settled by %s', (_by, lists, chosenPlugin, allow) => {
  const resolution = resolveGates(lists, ['read', 'run']);
  expect(resolution.allow).toEqual(allow);
  expect(resolution.conflict).toMatchObject({ chosenPlugin, reason: 'the allowlists have no tool in common' });
});

test('lists without an available tool leave every tool, and no gate wins', () => {
  expect(resolveGates([gate('a', ['gone'])], ['read', 'run'])).toEqual({
    allow: ['read', 'run'],
    conflict: { plugins: ['a'], reason: 'no allowlist names an existing tool' },
  });
});
