import { expect, test } from 'vitest';

import type { Json } from '../base/json.ts';
import { CallPreviews } from './run-call.ts';

function previewOf(tool: string, args: Json): string | undefined {
  const previews = new CallPreviews();
  previews.add(0, tool, args);
  previews.keep([0]);
  return previews.kept(0)?.call;
}

test('a preview is the tool and its arguments in short', () => {
  expect(previewOf('bash', { command: 'npm test', timeout: 5 })).toBe('bash {command: "npm test", timeout: 5}');
  expect(previewOf('list', [1, { a: null }])).toBe('list [1, {a: null}]');
  expect(previewOf('tick', {})).toBe('tick');
  expect(previewOf('say', 'hi')).toBe('say "hi"');
});

test('arguments of any size, width or depth give a preview of at most 100 characters', () => {
  let deep: Json = 1;
  for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
  const wide: Json = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key${index}`, 'x'.repeat(50)]));
  for (const args of [deep, wide, 'x'.repeat(1_000_000), { ['k'.repeat(1_000_000)]: 1 }]) {
    expect(previewOf('tool', args)?.length).toBe(100);
  }
});

test('kept previews stay, other old ones are dropped', () => {
  const previews = new CallPreviews();
  for (let index = 0; index < 1000; index += 1) {
    previews.add(index, `tool${index}`, null);
    if (index === 10) previews.keep([9, 10]);
  }
  previews.keep([11, 999]);
  expect([9, 10, 11, 999].map((index) => previews.kept(index)?.call)).toEqual([
    'tool9',
    'tool10',
    undefined,
    'tool999',
  ]);
});

test('an error line stays with its call', () => {
  const previews = new CallPreviews();
  previews.add(0, 'a', null);
  previews.add(1, 'b', null);
  previews.end(0, { error: 'no such file' });
  previews.end(7, { error: 'never issued' });
  previews.keep([0, 1]);
  expect([previews.kept(0), previews.kept(1)]).toEqual([{ call: 'a', error: 'no such file' }, { call: 'b' }]);
});
