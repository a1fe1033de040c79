import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { checkLine, jsonOfLine, LineBuffer } from './jsonl-line.ts';

const json = fc
  .dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.string({ unit: 'binary' }), fc.integer()), { minKeys: 1 })
  .map((value) => ({ json: JSON.stringify(value) }));
const appends = fc.array(fc.array(json, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });

function linesOf(buffer: LineBuffer): readonly Buffer[] {
  const bytes = Buffer.from(buffer.bytes);
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf('\n', start);
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

test('a line holds its record byte for byte, and says what belongs together and where a write begins', () => {
  fc.assert(
    fc.property(appends, (lists) => {
      const buffer = new LineBuffer();
      for (const list of lists) buffer.add(list);
      const lines = linesOf(buffer).map(checkLine);
      const wanted = lists.flatMap((list) => list.map(({ json: text }, index) => [text, index < list.length - 1]));
      expect(lines.map((line) => line && [jsonOfLine(line), line.hasMore])).toEqual(wanted);
      expect(lines.map((line) => line?.beginsWrite)).toEqual(wanted.map((_, index) => index === 0));
      expect(lines.at(-1)?.crc).toBe(buffer.lastCrc);
      expect(buffer.bytes.subarray(buffer.lastLineAt, -1)).toEqual(linesOf(buffer).at(-1));
    }),
  );
});

test('lines that were made ahead and joined are the lines that are made in one go', () => {
  fc.assert(
    fc.property(appends, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), (lists, isAhead) => {
      const [direct, joined] = [new LineBuffer(), new LineBuffer()];
      for (const [index, list] of lists.entries()) {
        direct.add(list);
        const ahead = new LineBuffer();
        ahead.add(list);
        if (isAhead[index] === true) joined.join(ahead);
        else joined.add(list);
      }
      expect(joined.bytes).toEqual(direct.bytes);
      expect([joined.lastCrc, joined.lastLineAt]).toEqual([direct.lastCrc, direct.lastLineAt]);
    }),
  );
});

test('the check of a line is eight digits of the CRC-32 of its bytes, begun with its marks', () => {
  for (let number = 0; number < 5000; number += 1) {
    const body = `{"n":${number}`;
    const buffer = new LineBuffer();
    buffer.add([{ json: `${body}}` }]);
    const digits = crc32(body, 2).toString(16).padStart(8, '0');
    expect(buffer.bytes.toString()).toBe(`${body},"line_check":"${digits}2"}\n`);
  }
});
