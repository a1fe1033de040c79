import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib';

import { beforeEach, expect, test } from 'vitest';

import { importSource } from '../import-source.ts';
import type { ArchiveImporter } from '../importer.ts';
import { openZipArchive } from './open-bytes.ts';
import { testFolder } from '../../../test/support/test-folder.ts';

let root: string;

beforeEach(() => void (root = testFolder()));

const METHODS = { stored: 0, deflate: 8, zstd: 93, other: 12 } as const;

interface ZipEntry {
  readonly name: string;
  readonly text: string;
  readonly method: keyof typeof METHODS;
  /** Wrong size in the table of contents. */
  readonly claimedBytes?: number;
}

/** A zip archive as the format's specification describes it. */
function zip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const table: Buffer[] = [];
  let offset = 0;
  for (const { name, text, method, claimedBytes } of entries) {
    const plain = Buffer.from(text);
    const packed = method === 'deflate' ? deflateRawSync(plain) : method === 'zstd' ? zstdCompressSync(plain) : plain;
    const label = Buffer.from(name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(METHODS[method], 4);
    fields.writeUInt32LE(crc32(plain), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(claimedBytes ?? plain.length, 18);
    fields.writeUInt16LE(label.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, label, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    table.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fields, rest, label]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(table);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\u0005\u0006'), end]);
}

async function archiveOf(entries: readonly ZipEntry[], entryLimitBytes = 1_000_000) {
  const path = join(root, 'archive.zip');
  await writeFile(path, zip(entries));
  return await openZipArchive(path, { entryLimitBytes });
}

test('stored, deflated and zstd entries are read; folders are left out', async () => {
  const text = 'déjà vu '.repeat(1_000);
  const archive = await archiveOf([
    { name: 'folder/', text: '', method: 'stored' },
    { name: 'folder/a', text, method: 'stored' },
    { name: 'b', text, method: 'deflate' },
    { name: 'c', text: `\uFEFF${text}`, method: 'zstd' },
  ]);
  expect(archive.entries.map(({ name }) => name)).toEqual(['folder/a', 'b', 'c']);
  for (const { name } of archive.entries) expect(await archive.readText(name)).toBe(text);
  await expect(archive.readText('d')).rejects.toMatchObject({ code: 'invalid-argument' });
  archive.close();
});

test('an entry over the limit is refused, also where the table of contents lies', async () => {
  const text = 'x'.repeat(10_000);
  const archive = await archiveOf(
    [
      { name: 'honest', text, method: 'deflate' },
      { name: 'lying-zstd', text, method: 'zstd', claimedBytes: 10 },
      { name: 'lying-deflate', text, method: 'deflate', claimedBytes: 10 },
    ],
    1_000,
  );
  await expect(archive.readText('honest')).rejects.toMatchObject({ code: 'input-too-large' });
  await expect(archive.readText('lying-zstd')).rejects.toMatchObject({ code: 'input-too-large' });
  await expect(archive.readText('lying-deflate')).rejects.toMatchObject({ code: 'format-invalid' });
  archive.close();
});

test('an unknown method and damaged data are errors of that entry only', async () => {
  const archive = await archiveOf([
    { name: 'a', text: 'a', method: 'other' },
    { name: 'b', text: 'b', method: 'stored' },
  ]);
  await expect(archive.readText('a')).rejects.toMatchObject({ code: 'format-invalid' });
  expect(await archive.readText('b')).toBe('b');
  archive.close();
});

/** Reads every entry as the text of one run's id. */
const idsImporter: ArchiveImporter = {
  shape: 'archive',
  format: 'inspect',
  recognise: (names) => (names.includes('ids') ? 1 : 0),
  async *read(archive) {
    const id = await archive.readText('ids');
    yield { type: 'run', run: { key: id, id, format: 'inspect' } };
  },
};

test('an archive is told by its content and read by the importer that knows its entries', async () => {
  const path = join(root, 'named-anyhow.json');
  await writeFile(path, zip([{ name: 'ids', text: 'one', method: 'deflate' }]));
  const items = await Array.fromAsync(importSource(path, { importers: [idsImporter] }));
  expect(items).toMatchObject([{ type: 'run', run: { id: 'one' } }]);

  await writeFile(path, zip([{ name: 'picture.png', text: '', method: 'stored' }]));
  await expect(Array.fromAsync(importSource(path, { importers: [idsImporter] }))).rejects.toMatchObject({
    code: 'format-unknown',
    message: expect.stringContaining('a zip archive of 1 entries (picture.png)'),
  });
});

test('a cut-off archive and one on standard input are refused', async () => {
  const path = join(root, 'cut.eval');
  const whole = zip([{ name: 'ids', text: 'one', method: 'deflate' }]);
  await writeFile(path, whole.subarray(0, -30));
  await expect(Array.fromAsync(importSource(path))).rejects.toMatchObject({ code: 'format-invalid' });
  await expect(Array.fromAsync(importSource('-', { stdin: Readable.from([whole]) }))).rejects.toMatchObject({
    code: 'input-io',
    message: expect.stringContaining('standard input'),
  });
});
