import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import { beforeEach, expect, test } from 'vitest';

import type { FormatName, ImportItem } from './importer.ts';
import { importSource, type ImportOptions } from './import-source.ts';
import { testFolder } from '../../test/support/test-folder.ts';

let root: string;

beforeEach(() => void (root = testFolder()));

/** A run of the `steps` form with one call. */
function run(id: string): string {
  return JSON.stringify({
    id,
    steps: [
      { i: 0, kind: 'tool_call', tool: 'bash', args: {}, call_id: 'c', msg: 0 },
      { i: 1, kind: 'tool_result', call_id: 'c', is_error: false, result: 'déjà vu', msg: 0 },
    ],
  });
}

/** A document of the `calls` form. */
const SCENARIO = JSON.stringify(
  { id: 'scenario', calls: [{ tool: 'a', args: {}, result: 'x', isError: false }] },
  null,
  2,
);

async function file(content: string | Buffer, name = 'input'): Promise<string> {
  const path = join(root, name);
  await writeFile(path, content);
  return path;
}

interface Outcome {
  readonly runs: readonly string[];
  readonly format: FormatName | undefined;
  /** `line severity message` of each. */
  readonly diagnostics: readonly string[];
}

async function outcomeOf(items: AsyncIterable<ImportItem>): Promise<Outcome> {
  const runs: string[] = [];
  const diagnostics: string[] = [];
  let format: FormatName | undefined;
  for await (const item of items) {
    if (item.type === 'run') {
      runs.push(item.run.id);
      format = item.run.format;
    } else if (item.type === 'diagnostic') {
      const { line, severity, message } = item.diagnostic;
      diagnostics.push(`${line ?? '-'} ${severity} ${message}`);
    }
  }
  return { runs, format, diagnostics };
}

async function read(content: string | Buffer, options: ImportOptions = {}): Promise<Outcome> {
  return outcomeOf(importSource(await file(content), options));
}

const CLEAN = { runs: ['a', 'b'], format: 'steps', diagnostics: [] };
const LINES = `${run('a')}\n${run('b')}\n`;

test.each([
  ['plain', Buffer.from(LINES)],
  ['without a last line break', Buffer.from(LINES.trimEnd())],
  ['with CRLF', Buffer.from(LINES.replaceAll('\n', '\r\n'))],
  ['with empty lines', Buffer.from(`\n\n${LINES.replaceAll('\n', '\n \n')}`)],
  ['with a byte order mark', Buffer.from(`\uFEFF${LINES}`)],
  ['as UTF-16, little end first', Buffer.from(`\uFEFF${LINES}`, 'utf16le')],
  ['as UTF-16, big end first', Buffer.from(`\uFEFF${LINES}`, 'utf16le').swap16()],
  ['gzipped', gzipSync(LINES)],
  ['gzipped in two members', Buffer.concat([gzipSync(LINES.slice(0, 100)), gzipSync(LINES.slice(100))])],
  ['as zstd', zstdCompressSync(LINES)],
  ['as zstd in two frames', Buffer.concat([zstdCompressSync(LINES.slice(0, 100)), zstdCompressSync(LINES.slice(100))])],
])('lines are read %s', async (_, content) => {
  expect(await read(content)).toEqual(CLEAN);
});

test('a document is read, packed or not, on one line or many', async () => {
  const expected = { runs: ['scenario'], format: 'calls', diagnostics: [] };
  expect(await read(SCENARIO)).toEqual(expected);
  expect(await read(JSON.stringify(JSON.parse(SCENARIO)))).toEqual(expected);
  expect(await read(gzipSync(SCENARIO))).toEqual(expected);
});

test('a document longer than a line may be is read, on one line or many', async () => {
  const limits = { lineBytes: 50 };
  expect(await read(SCENARIO, { limits })).toMatchObject({ runs: ['scenario'], diagnostics: [] });
  expect(await read(JSON.stringify(JSON.parse(SCENARIO)), { limits })).toMatchObject({ runs: ['scenario'] });
});

test('a single line is read as lines where only a line importer knows it', async () => {
  const record = {
    schema_version: 1,
    seq: 0,
    run_id: 'r',
    depth: 0,
    recorded_at_unix_ms: 1,
    payload: { kind: 'turn_started' },
  };
  expect(await read(JSON.stringify(record))).toEqual({ runs: ['r'], format: 'coxswain', diagnostics: [] });
});

test('a damaged line in the middle is an error with its number, and the rest is read', async () => {
  const { runs, diagnostics } = await read(`${run('a')}\n{"id": SECRET}\n${run('b')}\n`);
  expect(runs).toEqual(['a', 'b']);
  expect(diagnostics).toEqual(['2 error the line is not valid JSON and is skipped']);
});

test('a damaged first line does not hide what follows', async () => {
  const { runs, diagnostics } = await read(`{"id": "x", "steps": [\n${LINES}`);
  expect(runs).toEqual(['a', 'b']);
  expect(diagnostics).toEqual(['1 error the line is cut off in the middle of a value and is skipped']);
});

test('damaged first and last lines leave the one between', async () => {
  const { runs, diagnostics } = await read(`{"id"\n${run('a')}\n${run('b').slice(0, 40)}`);
  expect(runs).toEqual(['a']);
  expect(diagnostics.map((text) => text.slice(0, 7))).toEqual(['1 error', '3 error']);
});

test('a torn last line is progress as cut off', async () => {
  const { runs, diagnostics } = await read(`${LINES}${run('c').slice(0, 50)}`);
  expect(runs).toEqual(['a', 'b']);
  expect(diagnostics).toEqual(['3 error the file is cut off in this line']);
});

test('a line over the limit is skipped wherever it stands', async () => {
  const long = run('x'.repeat(500));
  const limits = { lineBytes: 400 };
  const message = 'error the line is over the size limit and is skipped';
  expect(await read(`${run('a')}\n${long}\n${run('b')}\n`, { limits })).toEqual({
    ...CLEAN,
    diagnostics: [`2 ${message}`],
  });
  expect(await read(`${long}\n${LINES}`, { limits })).toEqual({ ...CLEAN, diagnostics: [`1 ${message}`] });
  const small = { lineBytes: 400, documentBytes: 450 };
  expect(await read(`${long}\n${LINES}`, { limits: small })).toEqual({ ...CLEAN, diagnostics: [`1 ${message}`] });
});

test('a document over the limit is refused', async () => {
  const limits = { lineBytes: 20, documentBytes: 50 };
  await expect(read(SCENARIO, { limits })).rejects.toMatchObject({ code: 'input-too-large' });
  await expect(read(JSON.stringify(JSON.parse(SCENARIO)), { limits })).rejects.toMatchObject({
    code: 'input-too-large',
  });
});

test('bytes that are not UTF-8 are replaced, with one note', async () => {
  const broken = Buffer.from(LINES);
  broken[broken.indexOf('déjà') + 1] = 0xff;
  const { runs, diagnostics } = await read(broken);
  expect(runs).toEqual(['a', 'b']);
  expect(diagnostics).toEqual(['1 note bytes that are not UTF-8 were replaced, here first']);
});

test('cut-off compressed lines give what is whole and then an error', async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => run(`run-${(index * 7919) % 20_000}`)).join('\n');
  for (const packed of [gzipSync(lines), zstdCompressSync(lines)]) {
    const { runs, diagnostics } = await read(packed.subarray(0, packed.length - 1_000));
    expect(runs.length).toBeGreaterThan(15_000);
    expect(runs.length).toBeLessThan(20_000);
    expect(diagnostics.at(-1)).toMatch(/^- error the (?:gzip|zstd) data is cut off: the rest of the file is lost$/);
  }
});

test('a cut-off document tells the line at which it ends', async () => {
  await expect(read(SCENARIO.slice(0, -5))).rejects.toMatchObject({
    code: 'format-invalid',
    message: expect.stringMatching(/: the document is cut off at line 1[0-9]$/),
  });
  await expect(read(gzipSync(SCENARIO).subarray(0, -20))).rejects.toMatchObject({ code: 'format-invalid' });
});

test('a damaged document tells the place and quotes nothing', async () => {
  const damaged = SCENARIO.replace('"x"', 'SECRET');
  const failure: unknown = await read(damaged).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'format-invalid', details: { line: 7, column: 17 } });
  expect(String(failure)).not.toContain('SECRET');
});

test('what is no JSON, binary, empty or unknown is progress so', async () => {
  const cases: readonly (readonly [string | Buffer, string])[] = [
    ['# A heading\n\nSome text.\n', 'not JSON'],
    ['[a link](https://example.com)\n', 'not JSON'],
    [Buffer.from([1, 2, 0, 3]), 'binary'],
    [Buffer.from('{"a":1}', 'utf16le'), 'binary'],
    ['', 'empty'],
    ['\n \n', 'empty'],
    [gzipSync(''), 'empty'],
    ['{"name":"x","version":"1"}', 'a JSON object with the keys name, version'],
    ['{"level":30}\n{"level":40}\n', 'a JSON object with the keys level'],
    ['[]', 'an empty JSON list'],
    ['7', 'a JSON number'],
  ];
  for (const [content, expected] of cases) {
    const failure: unknown = await read(content).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'format-unknown', message: expect.stringContaining(expected) });
  }
});

test('nesting of 100,000 levels is refused without a crash, as a line and as a document', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const { runs, diagnostics } = await read(`${run('a')}\n{"id":"x","steps":${deep}}\n${run('b')}\n`);
  expect(runs).toEqual(['a', 'b']);
  expect(diagnostics).toEqual(['2 error the line is nested deeper than 1000 levels and is skipped']);
  await expect(read(`{"calls":${deep}}`)).rejects.toMatchObject({ code: 'format-invalid' });
  await expect(read('['.repeat(100_000))).rejects.toMatchObject({ code: 'format-invalid' });
});

test('missing files, folders and folders in between are progress in plain words', async () => {
  await mkdir(join(root, 'folder'));
  const path = await file('x');
  const reading = (name: string) => outcomeOf(importSource(name));
  await expect(reading(join(root, 'gone'))).rejects.toMatchObject({
    code: 'input-io',
    message: `${join(root, 'gone')}: no such file`,
  });
  await expect(reading(join(root, 'folder'))).rejects.toMatchObject({
    code: 'input-io',
    message: expect.stringContaining('is a folder'),
  });
  await expect(reading(join(path, 'below'))).rejects.toMatchObject({ code: 'input-io' });
});

test('standard input is read, also compressed and in small pieces', async () => {
  const packed = gzipSync(LINES);
  const pieces = Array.from(packed, (_, index) => packed.subarray(index, index + 1));
  expect(await outcomeOf(importSource('-', { stdin: Readable.from(pieces) }))).toEqual(CLEAN);
  expect(await outcomeOf(importSource('-', { stdin: Readable.from([LINES]) }))).toEqual(CLEAN);
});

test('a named format is read without recognition', async () => {
  const weak = JSON.stringify({ id: 'w', calls: [] });
  expect(await read(weak, { format: 'calls' })).toMatchObject({ runs: ['w'], format: 'calls' });
  await expect(read(LINES, { format: 'atif' })).rejects.toMatchObject({ code: 'format-invalid' });
  const other = await read(LINES, { format: 'calls' });
  expect(other.runs).toEqual([]);
  expect(other.diagnostics).toHaveLength(2);
  // The type forbids it, but a command line may pass anything on.
  const wrong = 'nonsense' as FormatName;
  await expect(read(LINES, { format: wrong })).rejects.toMatchObject({ code: 'invalid-argument' });
});

test('bytes read are progress up to the size of the file', async () => {
  const progress: (readonly [number, number | undefined])[] = [];
  const content = `${Array.from({ length: 2_000 }, (_, index) => run(`r${index}`)).join('\n')}\n`;
  await read(content, { onBytes: (bytes, total) => progress.push([bytes, total]) });
  const size = Buffer.byteLength(content);
  expect(progress.length).toBeGreaterThan(1);
  expect(progress.at(-1)).toEqual([size, size]);
});

test('stopping early closes the file, the decompressor and standard input', async () => {
  const many = Array.from({ length: 5_000 }, (_, index) => run(`r${index}`)).join('\n');
  const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
  const isLinux = process.platform === 'linux';
  for (const content of [Buffer.from(many), gzipSync(many), zstdCompressSync(many)]) {
    const path = await file(content);
    const before = isLinux ? await openFiles() : 0;
    for await (const item of importSource(path)) if (item.type === 'run') break;
    expect(isLinux ? await openFiles() : 0).toBe(before);
  }
  const stdin = new PassThrough();
  stdin.write(`${run('a')}\n`.repeat(40));
  for await (const item of importSource('-', { stdin })) if (item.type === 'run') break;
  expect(stdin.destroyed).toBe(true);
});

test('an aborted signal ends reading with its reason', async () => {
  const controller = new AbortController();
  const content = Array.from({ length: 5_000 }, (_, index) => run(`r${index}`)).join('\n');
  const reading = read(content, {
    signal: controller.signal,
    onBytes: () => controller.abort(new Error('enough')),
  });
  await expect(reading).rejects.toThrow('enough');
});

test.each([
  [
    'a line of zero bytes',
    `${run('a')}\n${'\0'.repeat(600)}\n${run('b')}\n`,
    ['2 error 600 zero bytes replace the line'],
  ],
  [
    'zero bytes before a record',
    `${run('a')}\n${'\0'.repeat(600)}${run('b')}\n`,
    ['2 error 600 zero bytes are left out'],
  ],
  ['zero bytes after the last record', `${LINES}${'\0'.repeat(9_000)}`, ['3 error 9,000 zero bytes replace the line']],
])('%s, which a crash leaves, is damage of that line only', async (_, content, diagnostics) => {
  expect(await read(content)).toEqual({ runs: ['a', 'b'], format: 'steps', diagnostics });
});

test('lines with the prefix of a log collector are read, and its other lines are counted', async () => {
  const at = '2026-10-12T22:00:00.1234567Z ';
  const log = [
    `${at}##[group]Run it`,
    `${at}shell: /usr/bin/bash`,
    `${at}${run('a')}`,
    `[12:00:01] [INFO] ${run('b')}`,
  ];
  const noise = Array.from({ length: 100 }, (_, line) => `${at}line ${line} of another step`);
  expect(await read([...noise, ...log].join('\n'))).toEqual({
    runs: ['a', 'b'],
    format: 'steps',
    diagnostics: ['- note left out: 102 lines of a log without JSON'],
  });
});

test('a list whose entries are the lines of another format is read as those lines', async () => {
  const session = { session_id: 's', type: 'user', message: { role: 'user', content: 'Go on.' } };
  const result = { type: 'result', subtype: 'success', session_id: 's', total_cost_usd: 0.42, result: 'Done.' };
  const { format, runs } = await read(JSON.stringify([session, result], null, 2));
  expect([format, runs]).toEqual(['claude-code', ['s']]);
});
