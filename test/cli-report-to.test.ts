import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { useStoresFolder } from './cli-stores.ts';
import { sampleRun } from './run-cli.ts';

const here = useStoresFolder();
const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;

/** A server that keeps what is posted to it and answers with these codes, then 200. */
async function webhook(...codes: number[]): Promise<{ readonly url: string; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(codes.shift() ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/key`, bodies };
}

async function recorded(): Promise<void> {
  await writeFile(join(here.cwd, 'run.json'), sampleRun(`with ${SECRET}`, 'stuck'));
}

test('a report is posted as Markdown and data, without secrets, and nothing is printed', async () => {
  await recorded();
  const { bodies, url } = await webhook();
  expect(await here.run(['report', 'run.json', '--to', url])).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(bodies).toHaveLength(1);
  // Escaped Markdown would hide the known beginning of the secret.
  expect(bodies[0]).not.toContain(SECRET.slice('ghp_'.length));
  const { report, text } = JSON.parse(bodies[0] ?? '') as { readonly report: unknown; readonly text: string };
  expect(text).toMatch(/^# What the agents did until [^]*\n## Worth a look\n\n1\. \*\*stuck: /);
  expect(report).toMatchObject({ totals: { runs: 1 }, from: 'run.json' });
});

test('a refusing webhook is one line and exit code 1, with only its host', async () => {
  await recorded();
  const { bodies, url } = await webhook(404);
  const { code, stderr } = await here.run(['report', 'run.json', '--to', url]);
  expect([code, stderr]).toEqual([
    1,
    `coxswain: the report was not sent to the webhook at ${new URL(url).host}: it answered 404\n`,
  ]);
  expect(bodies).toHaveLength(1);
});

test('any other address, and two forms, are wrong usage', async () => {
  for (const to of ['http://example.org/x', 'me@example.org', 'file:///x']) {
    const { code, stderr } = await here.run(['report', '--to', to]);
    expect([to, code, stderr]).toEqual([to, 2, expect.stringMatching(/^coxswain: --to takes an address [^\n]+\n$/)]);
  }
  const both = await here.run(['report', '--json', '--markdown']);
  expect([both.code, both.stderr]).toEqual([2, 'coxswain: give one of --json, --markdown, --html and --to\n']);
});

test('runs are grouped by person and by agent', async () => {
  const store = sqliteStore(join(here.cwd, 'team.db'));
  const cox = createCoxswain({ store });
  for (const [person, agentName] of [
    ['ann', 'planner'],
    ['ben', 'planner'],
    ['ann', 'coder'],
  ] as const) {
    const run = cox.startRun({ agentName, task: `for ${person}` });
    await run.end({ labels: { person }, success: true });
  }
  await cox.startRun({ agentName: 'coder' }).end();
  await cox.close();
  await store.close();
  const { code, stdout } = await here.run(['report', 'team.db', '--by', 'person']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\nann: 2 runs\n/);
  expect(stdout).toMatch(/\nben: 1 run\n/);
  // Below a home folder, the run without a person has that of the folder.
  expect(stdout).toMatch(/\n(?:not known|(?!ben\b)\w+): 1 run\n/);
  const markdown = (await here.run(['report', 'team.db', '--by', 'agent', '--markdown'])).stdout;
  expect(markdown).toMatch(/\n## Agents\n\n- (?:planner|coder): 2 runs\n/);
  const wrong = await here.run(['report', '--by', 'moon']);
  expect([wrong.code, wrong.stderr]).toEqual([2, 'coxswain: --by moon: give one of project, person, agent\n']);
});
