import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addHooks, ourHooks, removeHooks } from './edit-settings.ts';
import { hookCommand, hookGroups } from './init-hooks.ts';

const command = hookCommand('/opt/node/bin/node', '/opt/coxswain/dist/hook.cjs');
const wanted = hookGroups(command);

/** The settings as Claude Code reads them. */
function parsed(text: string): {
  readonly hooks?: Readonly<Record<string, unknown[]>>;
  readonly [name: string]: unknown;
} {
  const bare = text.replace(/^\uFEFF/, '').replace(/^\s*\/\/.*$/gm, '');
  // The tests write nothing else.
  return JSON.parse(bare.replace(/,(\s*[}\]])/g, '$1')) as ReturnType<typeof parsed>;
}

test('where there are no settings, they hold one hook for each event that is needed', () => {
  const { hooks = {} } = parsed(addHooks('', wanted));
  expect(Object.keys(hooks)).toHaveLength(12);
  expect(hooks['PostToolBatch']).toEqual([{ hooks: [{ type: 'command', command, timeout: 10 }] }]);
  expect(hooks['Notification']).toEqual([{ hooks: [{ type: 'command', command, timeout: 10, async: true }] }]);
  expect(hooks['PermissionRequest']).toEqual([{ matcher: '*', hooks: [{ type: 'command', command, timeout: 10 }] }]);
  expect(hooks['Stop']).toEqual([{ hooks: [{ type: 'command', command, timeout: 600 }] }]);
});

test('a second time changes nothing', () => {
  const once = addHooks('{"a": 1}\n', wanted);
  expect(addHooks(once, wanted)).toBe(once);
});

test('hooks of others, comments, order and indentation stay', () => {
  const before = [
    '{',
    '\t// mine',
    '\t"permissions": { "allow": ["Bash"] },',
    '\t"hooks": {',
    '\t\t"PostToolBatch": [',
    '\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./lint.sh" }] }',
    '\t\t]',
    '\t}',
    '}',
    '',
  ].join('\n');
  const after = addHooks(before, wanted);
  expect(after).toContain('\t// mine\n\t"permissions": { "allow": ["Bash"] },');
  expect(after).toContain('\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./lint.sh" }] }');
  expect(parsed(after).hooks?.['PostToolBatch']).toHaveLength(2);
  expect(parsed(removeHooks(after))).toEqual(parsed(before));
});

test('a hook of another place or version is replaced, not doubled', () => {
  const old = addHooks('{}\n', hookGroups(hookCommand('/old/node', '/old dir/hook.cjs')));
  const after = addHooks(old, wanted);
  expect(parsed(after)).toEqual(parsed(addHooks('{}\n', wanted)));
  expect([...ourHooks(after).values()].flat().every((one) => one === command)).toBe(true);
});

test('a command of ours in a group with another one goes alone', () => {
  const shared = {
    hooks: {
      Stop: [
        {
          hooks: [
            { type: 'command', command: 'say done' },
            { type: 'command', command },
          ],
        },
      ],
    },
  };
  expect(parsed(removeHooks(JSON.stringify(shared, undefined, 2)))).toEqual({
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }] },
  });
});

test('line ends and a byte order mark stay', () => {
  const after = addHooks('\uFEFF{\r\n  "a": 1\r\n}\r\n', wanted);
  expect(after.startsWith('\uFEFF{\r\n')).toBe(true);
  expect(after.replaceAll('\r\n', '')).not.toContain('\n');
});

test('what is no JSON, or no settings, is refused with the place', () => {
  expect(() => addHooks('{\n  "a": nope\n}', wanted)).toThrow(/line 2, column 8/);
  expect(() => addHooks('[]', wanted)).toThrow(/JSON object/);
  expect(() => addHooks('{"hooks": []}', wanted)).toThrow(/hooks should be/);
  expect(() => addHooks('{"hooks": {"Stop": {}}}', wanted)).toThrow(/hooks\.Stop should be/);
});

test('a path with blanks or quotes is quoted for the shell', () => {
  expect(hookCommand('/a b/node', "/it's/hook.cjs")).toBe(`'/a b/node' '/it'\\''s/hook.cjs' coxswain-hook`);
});

const otherHooks = fc.dictionary(
  fc.constantFrom('PreToolUse', 'PostToolUse', 'Stop', 'Notification'),
  fc.array(
    fc.record({
      hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  { maxKeys: 3 },
);

test('whatever others have there, adding and removing gives their settings back', () => {
  fc.assert(
    fc.property(otherHooks, fc.constantFrom(undefined, 2, '\t'), (hooks, indent) => {
      const settings = Object.keys(hooks).length === 0 ? { model: 'x' } : { model: 'x', hooks };
      const before = JSON.stringify(settings, undefined, indent);
      const after = addHooks(before, wanted);
      expect(ourHooks(after).size).toBe(12);
      expect(addHooks(after, wanted)).toBe(after);
      expect(JSON.parse(removeHooks(after))).toEqual(settings);
    }),
    { numRuns: 60 },
  );
});
