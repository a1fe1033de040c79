import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { bytesOfWrite, checkLine } from './jsonl-line.ts';

const json = fc
  .dictionary(fc.string(), fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer()), { minKeys: 1 })
  .map((value) => ({ json: JSON.stringify(value) }));
const appends = fc.array(fc.array(json, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });

test('a line contains its record byte for byte, and marks the end of an append and the start of a write', () => {
  fc.assert(
    fc.property(appends, (lists) => {
      const lines = bytesOfWrite(lists).toString().split('\n').slice(0, -1);
      const wanted = lists.flatMap((list, at) =>
        list.map((one, index) => ({ ...one, hasMore: index < list.length - 1, beginsWrite: at + index === 0 })),
      );
      expect(lines.map((line) => checkLine(Buffer.from(line)))).toEqual(wanted);
    }),
  );
});

test('the check of a line is eight digits of the CRC-32 of its bytes, seeded with its marks', () => {
  for (let number = 0; number < 5000; number += 1) {
    const body = `{"n":${number}`;
    const digits = crc32(body, 2).toString(16).padStart(8, '0');
    expect(bytesOfWrite([[{ json: `${body}}` }]]).toString()).toBe(`${body},"line_check":"${digits}2"}\n`);
  }
});
