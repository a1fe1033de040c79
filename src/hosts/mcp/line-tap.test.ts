import { expect, test } from 'vitest';

import { LineTap } from './line-tap.ts';

test('bytes that pass first have left before their lines are read', () => {
  const events: string[] = [];
  const tap = new LineTap({
    maxBytes: 100,
    passesFirst: true,
    line: (line) => {
      events.push(`read ${line.toString().trim()}`);
      return line;
    },
    longLine: () => undefined,
  });
  tap.on('data', (bytes: Buffer) => events.push(`passed ${bytes.toString().trim()}`));
  tap.write('one\ntwo');
  tap.end('\n');
  expect(events.filter((event) => event !== 'passed ')).toEqual(['passed one\ntwo', 'read one', 'read two']);
});
