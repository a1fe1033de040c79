import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runCli, type CliResult } from './run-cli.ts';
import { noPostgres, runSql, startPostgres, type PostgresServer } from './support/postgres-server.ts';
import { testFolder } from './support/test-folder.ts';

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'postgres.md'), 'utf8');
const SAMPLE = join(import.meta.dirname, '..', 'samples', 'stuck-run.jsonl');

describe.skipIf(noPostgres !== undefined)(`a team's store ${noPostgres ?? ''}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());

  test('with the roles of the docs, agents write, people read and cannot write, and only the owner deletes the schema', async () => {
    const folder = testFolder();
    const as = (role: string): string => server.url.replace(/\/\/[^@]*@/, `//${role}@`);
    const cox = async (...args: readonly string[]): Promise<CliResult> => runCli(args, { cwd: folder });
    const [, before = '', after = ''] = /```sql\n(CREATE ROLE[\s\S]*?)--[^\n]*\n([\s\S]*?)```/.exec(page) ?? [];
    await runSql(server.url, before);
    await cox('runs', '--store', as('owner'));
    expect(await cox('import', SAMPLE, '--store', as('owner'))).toMatchObject({ code: 0, stderr: '' });
    await runSql(server.url, after);
    expect(await cox('import', SAMPLE, '--store', as('agents'))).toMatchObject({ code: 0 });
    expect((await cox('runs', '--store', as('reader'))).stdout).toContain('stuck-run');
    const search = async (role: string): Promise<CliResult> => cox('search', 'expected', '--store', as(role));
    const none = await search('reader');
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('not indexed yet')]);
    const found = (await search('agents')).stdout;
    expect(found).toContain('stuck-run');
    expect((await search('reader')).stdout).toBe(found);
    const refused = async (role: string, statement: string): Promise<unknown> =>
      runSql(as(role), statement).catch((error: unknown) => error);
    expect(await refused('reader', 'DELETE FROM coxswain.runs')).toMatchObject({ code: '42501' });
    expect(await refused('agents', 'DROP TABLE coxswain.records')).toMatchObject({ code: '42501' });
  });
});
