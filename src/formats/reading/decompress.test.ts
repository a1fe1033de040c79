import { gzipSync, zstdCompressSync } from 'node:zlib';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '../../../test/support/rounds.ts';
import { decompress, packingOf } from './open-bytes.ts';

/** A frame that decompressors skip: its magic number, a length, the content. */
const SKIPPABLE = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const EMPTY_SKIPPABLE = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);

async function unpack(bytes: Buffer, chunkBytes = 1_000_000): Promise<string> {
  const packing = packingOf(bytes.subarray(0, 4));
  if (packing !== 'gzip' && packing !== 'zstd') throw new Error(`not compressed: ${packing}`);
  const parts = await Array.fromAsync(decompress(cut(bytes, chunkBytes), packing));
  return Buffer.concat(parts).toString();
}

async function* cut(bytes: Buffer, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

test('packing is told by the first bytes', () => {
  expect(packingOf(gzipSync('a').subarray(0, 4))).toBe('gzip');
  expect(packingOf(zstdCompressSync('a').subarray(0, 4))).toBe('zstd');
  expect(packingOf(SKIPPABLE.subarray(0, 4))).toBe('zstd');
  expect(packingOf(Buffer.from('PK\u0003\u0004'))).toBe('zip');
  expect(packingOf(Buffer.from('{"a"'))).toBe('none');
  expect(packingOf(Buffer.from(''))).toBe('none');
});

test('a gzip file of several members is read whole', async () => {
  expect(await unpack(Buffer.concat([gzipSync('one '), gzipSync('two')]))).toBe('one two');
});

test('a zstd file of many frames, some to be skipped, is read whole however it is cut', async () => {
  const frame = fc.oneof(
    fc.string({ maxLength: 40 }).map((text) => ({ text, bytes: zstdCompressSync(text) })),
    fc.nat(400_000).map((length) => {
      const text = Array.from({ length: length / 8 }, (_, index) => (index * 7919).toString(36)).join();
      return { text, bytes: zstdCompressSync(text) };
    }),
    fc.constantFrom(SKIPPABLE, EMPTY_SKIPPABLE).map((bytes) => ({ text: '', bytes })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { maxLength: 5 }), fc.integer({ min: 1, max: 5_000 }), async (others, size) => {
      // Without any data frame the file counts as cut off.
      const frames = [{ text: 'first', bytes: zstdCompressSync('first') }, ...others];
      const packed = Buffer.concat(frames.map(({ bytes }) => bytes));
      expect(await unpack(packed, size)).toBe(frames.map(({ text }) => text).join(''));
    }),
    { numRuns: rounds({ full: 40, short: 12 }) },
  );
});

test.each(['gzip', 'zstd'] as const)('cut-off %s data gives what came before and then an error', async (packing) => {
  const text = Array.from({ length: 200_000 }, (_, index) => (index * 7919).toString(36)).join();
  const packed = packing === 'gzip' ? gzipSync(text) : zstdCompressSync(text);
  let unpacked = 0;
  const reading = (async () => {
    for await (const part of decompress(cut(packed.subarray(0, -5_000), 10_000), packing)) unpacked += part.length;
  })();
  await expect(reading).rejects.toMatchObject({ code: 'format-invalid', message: `the ${packing} data is cut off` });
  expect(unpacked).toBeGreaterThan(text.length / 2);
});

test('damaged and trailing foreign bytes are errors', async () => {
  const damaged = zstdCompressSync('some text '.repeat(1_000));
  damaged.fill(0xff, 6);
  await expect(unpack(damaged)).rejects.toMatchObject({ code: 'format-invalid' });
  const trailing = Buffer.concat([zstdCompressSync('text'), Buffer.from('garbage')]);
  await expect(unpack(trailing)).rejects.toMatchObject({ code: 'format-invalid' });
});
