import * as fc from 'fast-check';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { unknownPayloadText } from './support/json-text.ts';
import { testFolder } from './support/test-folder.ts';
import { runCli } from './run-cli.ts';

test('records of unknown kinds come through imports, copies and exports of every kind byte for byte', async () => {
  const folder = testFolder();
  const cwd = folder;
  const odd = ['{"kind":"new","n":[1.0,12345678901234567890,1e3,-0]}', '{ "kind" :\t"new","\\u0061":"\\u00e9\\/" }'];
  const texts = [...odd, ...fc.sample(unknownPayloadText, { numRuns: 60, seed: 3 }).filter(mayBeImported)];
  const lines = texts.map((text, seq) => recordLine(seq, text));
  await writeFile(join(cwd, 'given.ndjson'), `${lines.join('\n')}\n`);
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCli(args, { cwd });
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };

  await run('import', 'given.ndjson', '--store', 'first.db');
  await run('export', '--store', 'first.db', '--to-store', 'second.db');
  await run('export', '--store', 'second.db', '--to', 'exported.ndjson');
  expect((await readFile(join(cwd, 'exported.ndjson'), 'utf8')).trimEnd().split('\n')).toEqual(lines);
  for (const args of [['export'], ['show', 'a', '--json']]) {
    const printed = (await run(...args, '--store', 'second.db')).trimEnd().split('\n');
    // Only control characters are escaped; everything else is unchanged.
    expect(printed.filter((_, seq) => isPlain(lines[seq] ?? ''))).toEqual(lines.filter(isPlain));
    expect(printed.map((line) => JSON.parse(line) as unknown)).toEqual(
      lines.map((line) => JSON.parse(line) as unknown),
    );
  }
  await run('analyze', 'exported.ndjson', '--store', 'third.db', '--summary');
  const again = (await run('export', '--store', 'third.db')).trimEnd().split('\n').slice(1);
  for (const text of odd) expect(again.filter((line) => line.includes(`"payload":${text}`))).toHaveLength(1);
});

function recordLine(seq: number, payloadText: string): string {
  return `{"schema_version":1,"seq":${seq},"run_id":"a","depth":0,"recorded_at_unix_ms":${1000 + seq},"payload":${payloadText}}`;
}

/** An import looks for secrets, and cannot look into a member that a later one of its name replaces. */
function mayBeImported(text: string): boolean {
  return (text.match(/:/g)?.length ?? 0) === (JSON.stringify(JSON.parse(text)).match(/:/g)?.length ?? 0);
}

function isPlain(line: string): boolean {
  return /^[\t -~]*$/.test(line);
}
