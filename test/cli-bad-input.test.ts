import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';

import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli, sampleRun } from './run-cli.ts';

const cwd = testFolder();

beforeAll(async () => {
  await writeFile(join(cwd, 'good.json'), sampleRun('good', 'fine'));
});

const packed = gzipSync(`${Array.from({ length: 400 }, (_, index) => sampleRun(`r${index}`, 'fine')).join('\n')}\n`);
const deep = `{"id":"deep","calls":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;

const BAD: readonly (readonly [name: string, content: string | Uint8Array | undefined, line: RegExp])[] = [
  ['missing.json', undefined, /^coxswain: missing\.json: no such file$/],
  ['empty.jsonl', '', /^coxswain: empty\.jsonl: the file is empty/],
  ['truncated.json', sampleRun('cut', 'fine').slice(0, -40), /^coxswain: truncated\.json(?::1)?: .*cut off/],
  ['binary.bin', Buffer.from([0, 1, 2, 3, 255, 254, 0, 7]), /^coxswain: binary\.bin: .*binary/],
  ['utf16.json', Buffer.from(sampleRun('w', 'fine'), 'utf16le'), /^coxswain: utf16\.json: /],
  ['latin1.txt', Buffer.from('caf\xe9 au lait\n', 'latin1'), /^coxswain: latin1\.txt: /],
  ['deep.json', deep, /^coxswain: deep\.json(?::1)?: .*nested/],
  ['other.json', '{"name":"package"}', /^coxswain: other\.json: .*no known format/],
  ['prose.md', '# Title\n\ntext\n', /^coxswain: prose\.md: .*/],
  ['torn.jsonl.gz', packed.subarray(0, packed.length - 200), /^coxswain: torn\.jsonl\.gz(?::\d+)?: /],
  [
    'one-bad-line.jsonl',
    `${sampleRun('x', 'fine')}\n{broken\n${sampleRun('y', 'fine')}\n`,
    /^coxswain: one-bad-line\.jsonl:2: /,
  ],
];

test.each(BAD)('%s gives a clear line, and the next file is analysed', async (name, content, line) => {
  if (content !== undefined) await writeFile(join(cwd, name), content);
  const { code, stdout, stderr } = await runCli(['analyze', name, 'good.json', '--json'], { cwd });
  expect(code).toBe(1);
  const lines = stderr.trimEnd().split('\n');
  expect(lines[0]).toMatch(line);
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(jsonLines(stdout).at(-1)?.['id']).toBe('good');
});

test('a folder among named files is read, also if another one is missing', async () => {
  await mkdir(join(cwd, 'sub'), { recursive: true });
  await writeFile(join(cwd, 'sub', 'in.json'), sampleRun('inside', 'fine'));
  const { code, stdout } = await runCli(['analyze', 'nowhere', 'sub', '--json'], { cwd });
  expect(code).toBe(1);
  expect(jsonLines(stdout).map((run) => run['id'])).toEqual(['inside']);
});

test('after ten damaged lines the rest is counted', async () => {
  const lines = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? sampleRun(`m${index}`, 'fine') : '{no'));
  await writeFile(join(cwd, 'damaged.jsonl'), lines.join('\n'));
  const { code, stdout, stderr } = await runCli(['analyze', 'damaged.jsonl', '--json'], { cwd });
  expect(code).toBe(1);
  expect(jsonLines(stdout)).toHaveLength(20);
  const complaints = stderr.trimEnd().split('\n');
  expect(complaints).toHaveLength(11);
  expect(complaints.at(-1)).toBe('coxswain: damaged.jsonl: and 10 more');
});

test('a folder without runs is reported', async () => {
  await mkdir(join(cwd, 'hollow'), { recursive: true });
  const { code, stderr } = await runCli(['analyze', 'hollow'], { cwd });
  expect([code, stderr]).toEqual([1, 'coxswain: hollow: no run found\n']);
});

test.skipIf(process.platform === 'win32')('a link to a device is not read without end (Windows has none)', async () => {
  await mkdir(join(cwd, 'linked'), { recursive: true });
  await writeFile(join(cwd, 'linked', 'a.json'), sampleRun('beside', 'fine'));
  await symlink('/dev/zero', join(cwd, 'linked', 'b.jsonl'));
  const { code, stdout } = await runCli(['analyze', 'linked', '--json'], { cwd });
  expect([code, jsonLines(stdout).length]).toEqual([0, 1]);
});

const EVIL = '\u001b[2J\u001b]0;owned\u0007\u202eevil\u2066\u200b\u009b31m\nnext';
const ACTS_ON_A_TERMINAL =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

test('a trajectory or file name cannot act on the terminal, as text or JSON', async () => {
  const call = { tool: EVIL, args: { [EVIL]: EVIL }, result: `Error: ${EVIL}`, isError: true };
  const evil = JSON.stringify({ id: EVIL, description: EVIL, calls: Array.from({ length: 8 }, () => call) });
  await mkdir(join(cwd, 'evil'), { recursive: true });
  const name = `evil/\u001b[31m\u202ex.json`;
  await writeFile(join(cwd, name), evil);
  await writeFile(join(cwd, 'evil', '\u001b[2Jbad.json'), '{');
  for (const flags of [[], ['--json'], ['--all'], ['--store', 'evil.db']]) {
    const result = await runCli(['analyze', 'evil', `evil/${EVIL}`, ...flags], { cwd });
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('evil');
    expect(result.stdout).not.toMatch(ACTS_ON_A_TERMINAL);
    expect(result.stderr).not.toMatch(ACTS_ON_A_TERMINAL);
  }
  const json = await runCli(['analyze', name, '--json'], { cwd });
  expect(jsonLines(json.stdout)[0]).toMatchObject({ id: EVIL, source: name });
  for (const args of [
    ['runs'],
    ['runs', '--json'],
    ['show', '\u001b'],
    ['show', '\u001b', '--json'],
    ['show', `${EVIL}?`],
  ]) {
    const { stdout, stderr } = await runCli([...args, '--store', 'evil.db'], { cwd });
    expect(stdout + stderr).not.toBe('');
    expect(stdout + stderr).not.toMatch(ACTS_ON_A_TERMINAL);
  }
  const usage = await runCli([`--${EVIL}`], { cwd });
  expect(usage.code).toBe(2);
  expect(usage.stderr).not.toMatch(ACTS_ON_A_TERMINAL);
});
