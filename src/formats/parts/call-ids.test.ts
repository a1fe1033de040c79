import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { costGrowth, MOST_LINEAR_GROWTH } from '../../../test/support/cost-growth.ts';
import { SourceCallIds } from './call-ids.ts';

const result = (sourceId: string | undefined, text = 'r') => ({ sourceId, result: text, isError: false });
const call = (sourceId?: string) => ({ sourceId, name: 'tool', args: {} });

test('a repeated id gets a new name and results go to the oldest open call of that id', () => {
  const ids = new SourceCallIds();
  expect(ids.start(call('a')).tool_call_id).toBe('a');
  expect(ids.start(call('a')).tool_call_id).toBe('a#2');
  expect(ids.end(result('a', '1'))?.tool_call_id).toBe('a');
  expect(ids.end(result('a', '2'))?.tool_call_id).toBe('a#2');
});

test('results of parallel calls pair by id whatever their order', () => {
  const ids = new SourceCallIds();
  for (const id of ['a', 'b', 'c']) ids.start(call(id));
  expect(['c', 'a', 'b'].map((id) => ids.end(result(id))?.tool_call_id)).toEqual(['c', 'a', 'b']);
});

test('without ids results pair by order', () => {
  const ids = new SourceCallIds();
  const started = [ids.start(call()), ids.start(call())].map((payload) => payload.tool_call_id);
  expect([ids.end(result(undefined)), ids.end(result(undefined))].map((end) => end?.tool_call_id)).toEqual(started);
});

test('a result without an id takes the call without an id before one that has one', () => {
  const ids = new SourceCallIds();
  ids.start(call('a'));
  const nameless = ids.start(call());
  expect(ids.end(result(undefined))?.tool_call_id).toBe(nameless.tool_call_id);
  expect(ids.end(result('a'))?.tool_call_id).toBe('a');
});

test('a result with an id no call had goes to the oldest open call, and one answered already to none', () => {
  const ids = new SourceCallIds();
  ids.start(call('a'));
  ids.start(call('b'));
  expect(ids.end(result('b'))?.tool_call_id).toBe('b');
  expect(ids.end(result('b'))).toBeUndefined();
  expect(ids.end(result('other'))?.tool_call_id).toBe('a');
  expect(ids.end(result('other'))).toBeUndefined();
});

test('calls without a result end as missing, not as errors', () => {
  const ids = new SourceCallIds();
  ids.start(call('a'));
  expect(ids.endMissing()).toEqual([
    { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'tool', result: null, is_error: false, result_missing: true },
  ]);
  expect(ids.openCount).toBe(0);
});

test('any mix of calls and results gives unique ids, one end for each start, and uses a result once at most', () => {
  const id = fc.option(fc.constantFrom('a', 'b', 'a#2', 'call', 'call#2', ''), { nil: undefined });
  const step = fc.record({ what: fc.constantFrom('call', 'result', 'missing'), id });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ids = new SourceCallIds();
      const open = new Set<string>();
      const started: string[] = [];
      const ended: { readonly tool_call_id: string; readonly result: unknown; readonly result_missing?: true }[] = [];
      let wrongEnds = 0;
      const end = (...payloads: typeof ended): void => {
        for (const payload of payloads) if (!open.delete(payload.tool_call_id)) wrongEnds += 1;
        ended.push(...payloads);
      };
      for (const [index, { what, id: sourceId }] of steps.entries()) {
        if (what === 'call') {
          started.push(ids.start(call(sourceId)).tool_call_id);
          open.add(started.at(-1) ?? '');
        } else if (what === 'missing') {
          end(...ids.endMissing());
        } else {
          const paired = ids.end({ sourceId, result: index, isError: false });
          if (paired !== undefined) end(paired);
        }
        expect(ids.openCount).toBe(open.size);
      }
      end(...ids.endMissing());
      expect(wrongEnds).toBe(0);
      expect(new Set(started).size).toBe(started.length);
      expect(ended.map((payload) => payload.tool_call_id).sort()).toEqual(started.toSorted());
      const used = ended.filter((payload) => payload.result_missing !== true).map((payload) => payload.result);
      expect(new Set(used).size).toBe(used.length);
    }),
  );
});

test('many calls of one id are paired in a time that grows with their number', () => {
  const growth = costGrowth((factor) => {
    const ids = new SourceCallIds();
    for (let index = 0; index < 1_000 * factor; index += 1) ids.start(call('same'));
    let paired = 0;
    while (ids.end(result('same')) !== undefined) paired += 1;
    expect(paired).toBe(1_000 * factor);
  });
  expect(growth).toBeLessThan(MOST_LINEAR_GROWTH);
});

test('a search that found nothing and printed nothing is no error, and any other exit code is one', () => {
  const ids = new SourceCallIds();
  const errorOf = (command: string, text: string): boolean | undefined => {
    ids.start({ sourceId: command, name: 'Bash', args: { command } });
    return ids.end({ ...result(command, text), isError: true })?.is_error;
  };
  expect(errorOf('rg -n "old name" src', 'Exit code 1')).toBe(false);
  expect(errorOf('cd app && grep -rn old .', 'Exit code 1\n')).toBe(false);
  // The commands before it printed something.
  const chain = 'git ls-files "*.lock" && cat package.json | grep jest';
  expect(errorOf(chain, 'Exit code 1\nyarn.lock\napi/poetry.lock')).toBe(false);
  expect(errorOf(`${chain} `, 'Exit code 1\nyarn.lock\ncat: package.json: No such file or directory')).toBe(true);
  expect(errorOf('diff -u a b', 'Exit code 1\n--- a\n+++ b\n-one\n+two')).toBe(false);
  for (const command of ['findstr /s /i "old name" *.ts', 'type a.txt | findstr.exe old', 'where node'])
    expect(errorOf(command, 'Exit code 1')).toBe(false);
  expect(errorOf('rg "(" src', 'Exit code 2\nregex parse error')).toBe(true);
  expect(errorOf('rg old missing', 'Exit code 1\nmissing: No such file')).toBe(true);
  // A shell gives some of these errors the exit code 1.
  for (const error of [
    'rg: regex parse error:\n    (?:()\n    ^\nerror: unclosed group',
    'rg: package.json: IO error for operation on package.json: (os error 2)',
    'grep: Unmatched [, [^, [:, [., or [=',
    'src/a.ts:3:old\n/usr/bin/grep: invalid option -- K',
    'At line:1 char:12\n    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException',
  ])
    expect([error, errorOf(`rg old . # ${error}`, `Exit code 1\n${error}`)]).toEqual([error, true]);
  expect(errorOf('npm test', 'Exit code 1')).toBe(true);
  expect(errorOf('npm run build && rg old dist', 'Exit code 1')).toBe(true);
});
