import { once } from 'node:events';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { trustProject } from '../src/hosts/config/trust-project.ts';
import { jsonLines, runCli, type CliResult } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

let folder: string;
let cwd: string;
let home: string;
let closing: (() => void)[];

beforeEach(async () => {
  folder = testFolder();
  closing = [];
  cwd = join(folder, 'project');
  home = join(folder, 'home');
  await mkdir(cwd);
  await mkdir(join(home, 'coxswain'), { recursive: true });
});

afterEach(async () => {
  for (const close of closing) close();
});

/** A server on loopback that answers with these statuses in turn, then 200. @returns its address, and what it got */
async function webhook(statuses: readonly number[] = []): Promise<{ url: string; bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      bodies.push(JSON.parse(text));
      response.writeHead(statuses[bodies.length - 1] ?? 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  // It listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook-key`, bodies };
}

const own = (notify: object): Promise<void> =>
  writeFile(join(home, 'coxswain', 'config.json'), JSON.stringify({ notify }));
const notifyTest = (): Promise<CliResult> =>
  runCli(['notify', 'test'], { cwd, env: { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home } });

test('notify test sends JSON to the webhook and to the command', async () => {
  const { url, bodies } = await webhook();
  await own({ webhook: url, command: ['sh', '-c', 'cat > told.json'] });
  const { code, stdout, stderr } = await notifyTest();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toBe(`the webhook at ${new URL(url).host}: sent\nnotify.command: sent\n`);
  const expected = { event: 'test', run: 'test', message: 'This is a test of coxswain notifications.' };
  expect(bodies).toEqual([expected]);
  expect(jsonLines(await readFile(join(cwd, 'told.json'), 'utf8'))).toEqual([expected]);
});

test('the Slack form is one text, and a busy webhook is retried', async () => {
  const { url, bodies } = await webhook([503]);
  await own({ webhook: url, form: 'slack' });
  const { code } = await notifyTest();
  expect(code).toBe(0);
  const text = 'coxswain: This is a test of coxswain notifications.';
  expect(bodies).toEqual([{ text }, { text }]);
});

test('a refusing webhook is exit code 1, and its address is not shown', async () => {
  const { url } = await webhook([404]);
  await own({ webhook: url });
  const { code, stderr } = await notifyTest();
  expect([code, stderr]).toEqual([
    1,
    `coxswain: notify: the webhook at ${new URL(url).host} was not notified (test): it answered 404\n`,
  ]);
});

test('a repository configures notifications only after coxswain trust', async () => {
  const { url, bodies } = await webhook();
  await writeFile(join(cwd, 'coxswain.config.json'), JSON.stringify({ notify: { webhook: url } }));
  const { code, stderr } = await notifyTest();
  expect(code).not.toBe(0);
  expect(stderr).toContain('coxswain.config.json is not trusted and ignored: read it, then run coxswain trust');
  expect(bodies).toEqual([]);
  trustProject(cwd, { env: { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home }, homeFolder: home });
  expect((await notifyTest()).code).toBe(0);
  expect(bodies).toHaveLength(1);
});

test('watch sends the configured notifications to the configured targets, and no others', async () => {
  const { url, bodies } = await webhook();
  await own({ webhook: url, on: ['failed'] });
  const file = join(cwd, 'run.jsonl');
  const record = (seq: number, payload: object): string =>
    `${JSON.stringify({ schema_version: 1, seq, run_id: 'r1', depth: 0, recorded_at_unix_ms: 1_000 + seq, payload })}\n`;
  await writeFile(file, record(0, { kind: 'run_started', identity: { run_id: 'r1', depth: 0 } }));
  const end = record(1, { kind: 'run_ended', outcome: 'error', new_messages: [] });
  let isEnded = false;
  const { code, stderr } = await runCli(['watch', file, '--until-end', '--interval', '20'], {
    cwd,
    env: { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home },
    onStdout: ({ all }) => {
      if (isEnded || !all.includes('the last ones')) return;
      isEnded = true;
      void appendFile(file, end);
    },
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(bodies).toEqual([{ event: 'failed', run: 'r1', message: 'Run r1 failed: ended with an error' }]);
});

test('a wrong notify setting is named by every command that would notify', async () => {
  await writeFile(join(home, 'coxswain', 'config.json'), JSON.stringify({ notify: 'desktop' }));
  const env = { HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
  for (const args of [
    ['notify', 'test'],
    ['watch', '--background'],
    ['init', '--watch', '--dry-run'],
  ]) {
    const { code, stderr } = await runCli(args, { cwd, env });
    expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(/config\.json: notify: /)]);
  }
});
