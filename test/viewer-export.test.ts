import { createHash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { CoxswainError } from '../src/core/base/error.ts';
import { foldRunSummaries } from '../src/core/facts/run-summary.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { SESSION_NAMED } from '../src/core/records/words.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { scriptRun } from './support/script-records.ts';
import { sharedRunsIn } from '../src/viewer/server/shared-data.ts';
import { BUILT_PAGE } from './support/built-page.ts';
import { tempFolder } from './support/temp-folder.ts';
import type { RunsAnswer, SourcesAnswer } from '../src/viewer/server/api-shapes.ts';
import { sharedFile } from '../src/viewer/server/shared-run.ts';
import { startViewer, type RunningViewer } from '../src/viewer/server/start-viewer.ts';
import { openPage, type Page } from './viewer-client.ts';

let folder: Awaited<ReturnType<typeof tempFolder>>;
let viewer: RunningViewer | undefined;

beforeEach(async () => {
  folder = await tempFolder();
});

afterEach(async () => {
  await viewer?.close();
  viewer = undefined;
  await folder.dispose();
});

async function view(path: string): Promise<Page> {
  viewer = await startViewer({ paths: [path], port: 0, pageFolder: BUILT_PAGE });
  return openPage(viewer);
}

const SECRET = `sk-ant-api03-${'Ab1'.repeat(30)}`;

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></details></article></main><h1>mine</h1>',
  '<svg onload="fetch(`http://evil.example`)"><use href="http://evil.example/x.svg#a"/></svg>',
  '![pixel](http://evil.example/pixel.png) [click](javascript:alert(1))',
  '<style>@import "http://evil.example/x.css"</style><link rel=stylesheet href=//evil.example/x.css>',
  '<meta http-equiv=refresh content="0;url=http://evil.example">',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe><base href=http://evil.example/>',
  '\u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007 \u001b[31mred\u001b[2J \u009b1m',
  'a\u202Egnp.exe \u2066hidden\u2069 \u200b\u00ad \u{e0041}',
  '\ud800 lone, \u0000 nul, \u0008\u0008 back',
];

const hostileText = HOSTILE.join('\n');

function hostileRun(): readonly TrajectoryPayload[] {
  const ended = { kind: 'tool_ended', tool_call_id: hostileText, tool_name: hostileText } as const;
  return [
    { kind: 'run_started', identity: { run_id: 'run', depth: 0 }, task: hostileText },
    { kind: 'message_appended', message: { role: 'user', content: hostileText } },
    {
      kind: 'message_appended',
      message: {
        role: 'assistant',
        content: [
          { type: 'text', text: hostileText },
          { type: 'reasoning', text: hostileText },
          { type: 'image', media_type: 'image/svg+xml', data_base64: 'PHN2Zz48L3N2Zz4=' },
          { type: 'image', media_type: hostileText, url: 'http://evil.example/x.png' },
        ],
      },
    },
    { kind: 'tool_started', tool_call_id: hostileText, tool_name: hostileText, args: { [hostileText]: hostileText } },
    { ...ended, result: [{ type: 'text', text: `${hostileText} ${SECRET}` }], is_error: true },
    {
      kind: 'feedback_produced',
      cause_seq: 4,
      ordinal: 0,
      advice_id: 'advice-1',
      provider_name: hostileText,
      text: `${hostileText} ${SECRET}`,
      feedback: {
        summary: hostileText,
        observations: [{ category: 'x', description: hostileText }],
        suggestions: [],
        severity: 'warning',
        atMs: 1,
        callIndex: 0,
        promptName: '',
      },
    },
    { kind: 'feedback_delivered', advice_id: 'advice-1', provider_name: 'x', delivered: false, reason: hostileText },
    { kind: 'fault_noticed', where: hostileText, message: hostileText },
    { kind: 'run_ended', outcome: hostileText, new_messages: [] },
  ];
}

async function exported(payloads: readonly TrajectoryPayload[], runId = 'run'): Promise<string> {
  const path = join(folder.path, 'runs.db');
  const store = sqliteStore(path);
  await store.append(scriptRun(runId, payloads));
  await store.close();
  const page = await view(path);
  const answer = await page.get(`/api/runs/0/${encodeURIComponent(runId)}/export.html`);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  return answer.text;
}

test('the title of the file is the name of the session, else that of its task', async () => {
  const named: TrajectoryPayload = {
    kind: 'session_event',
    event_type: SESSION_NAMED,
    data: { name: `<b> ${SECRET}` },
  };
  const begun: TrajectoryPayload = { kind: 'run_started', identity: { run_id: 'run', depth: 0 }, task: 'Mend <it>' };
  expect(await exported([begun])).toContain('<title>Mend &lt;it&gt;</title>');
  await viewer?.close();
  await rm(join(folder.path, 'runs.db'));
  expect(await exported([begun, named])).toMatch(/<title>&lt;b&gt; \[REDACTED:[^\]]*\]<\/title>/);
});

test('a shared run is one page whose policy allows only its script and its style, and texts of the run are data', async () => {
  const html = await exported(hostileRun());
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? [];
  const [, script = ''] = /<script type="module">([^]*?)<\/script>/.exec(html) ?? [];
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
  expect(html).toContain(`content="${policy}"`);
  const rest = html.replace(style, '').replace(script, '');
  const tags = [...rest.matchAll(/<(\/?[a-zA-Z!][a-zA-Z0-9]*)/g)].map(([, tag]) => tag);
  const frame = '!doctype html head meta meta meta meta meta style /style script /script title /title /head';
  expect(tags.join(' ')).toBe(`${frame} body div /div noscript /noscript script /script /body /html`);
  const [shared] = await sharedRunsIn(html);
  expect(shared?.answer.overview.lastAnswer?.text).toContain('<script>alert(1)</script>');
});

test('characters that reorder, hide or colour text are not in the file', async () => {
  const html = await exported(hostileRun());
  expect(html).not.toMatch(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u,
  );
  expect(html.isWellFormed()).toBe(true);
});

test('a shared run has the runs that it started, and no picture', async () => {
  const path = join(folder.path, 'runs.db');
  const store = sqliteStore(path);
  const image = { type: 'image', media_type: 'image/png', data_base64: `iVBORw0KGgo${'A'.repeat(100)}` } as const;
  await store.append(
    scriptRun('run', [
      ...hostileRun().slice(0, -1),
      { kind: 'message_appended', message: { role: 'user', content: [image] } },
    ]),
  );
  const child: TrajectoryPayload = {
    kind: 'run_started',
    identity: { run_id: 'child', depth: 1, parent_run_id: 'run' },
    task: 'Look at it',
  };
  const below = { depth: 1, parent_run_id: 'run' };
  await store.append(scriptRun('child', [child]).map((record) => Object.assign({}, record, below)));
  await store.close();
  const page = await view(path);
  await page.json<RunsAnswer>('/api/runs');
  const { text } = await page.get('/api/runs/0/run/export.html');
  const runs = await sharedRunsIn(text);
  expect(runs.map(({ answer }) => answer.run.runId)).toEqual(['child', 'run']);
  expect(runs[1]?.answer.children.map(({ title }) => title)).toEqual(['Look at it']);
  expect(JSON.stringify(runs)).not.toContain('AAAAAAAAAA');
  expect(runs[1]?.records.at(-1)?.payload).toMatchObject({
    message: { content: [{ type: 'image', media_type: 'image/png', data_base64: { bytes: 83 } }] },
  });
});

test('the file of a damaged run has the records before the damage, and the reason', async () => {
  const records = scriptRun('run', hostileRun());
  const run = foldRunSummaries(undefined, records);
  const read = async function* (): AsyncGenerator<TrajectoryRecord> {
    yield* records.slice(0, 3);
    throw new CoxswainError('store-damaged', `record 3 is damaged: ${SECRET}`);
  };
  let text = '';
  for await (const part of sharedFile({ run, records: read, below: [] }, { folder: BUILT_PAGE })) text += part;
  const [shared] = await sharedRunsIn(text);
  expect([shared?.records.length, shared?.answer.run.problem]).toEqual([
    3,
    expect.stringMatching(/^record 3 is damaged: \[REDACTED/),
  ]);
});

test('secrets are replaced again, anywhere', async () => {
  const html = await exported(hostileRun());
  const data = JSON.stringify(await sharedRunsIn(html));
  expect(html + data).not.toContain(SECRET);
  expect(data).toContain('[REDACTED');
});

test('equal runs give equal bytes, and any run id gives a plain file name', async () => {
  const first = await exported(hostileRun());
  const again = await (await openPage(viewer as RunningViewer)).get('/api/runs/0/run/export.html');
  expect(again.text).toBe(first);
  expect(again.headers['content-disposition']).toBe('attachment; filename="coxswain-run.html"');
  const store = sqliteStore(join(folder.path, 'runs.db'));
  const id = '../"a\r\nX: y/<b>';
  await store.append(scriptRun(id, hostileRun()));
  await store.close();
  const answer = await (
    await openPage(viewer as RunningViewer)
  ).get(`/api/runs/0/${encodeURIComponent(id)}/export.html`);
  expect(answer.headers['content-disposition']).toBe('attachment; filename="coxswain-a-X-y-b.html"');
});

test('an archive with escaping names is refused, and nothing is written', async () => {
  const before = await readdir(folder.path);
  const names = ['../../evil.json', '/etc/evil.json', '..\\evil.json', 'header.json'];
  const path = join(folder.path, 'log.eval');
  await writeFile(path, zipOf(names.map((name) => [name, '{"version": 2}'])));
  const page = await view(path);
  let sources: SourcesAnswer['sources'] = [];
  while (sources[0]?.problem === undefined) {
    ({ sources } = await page.json<SourcesAnswer>('/api/sources'));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(sources[0]?.problem?.message).toContain('log.eval');
  expect((await page.json<RunsAnswer>('/api/runs')).total).toBe(0);
  expect((await readdir(folder.path)).toSorted()).toEqual([...before, 'log.eval']);
});

/** A zip archive of stored entries. */
function zipOf(entries: readonly (readonly [string, string])[]): Buffer {
  const locals: Buffer[] = [];
  const table: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of entries) {
    const [nameBytes, bytes] = [Buffer.from(name), Buffer.from(text)];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt32LE(crc32(bytes), 14);
    local.writeUInt32LE(bytes.length, 18);
    local.writeUInt32LE(bytes.length, 22);
    local.writeUInt16LE(nameBytes.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(20, 4);
    central.writeUInt16LE(20, 6);
    local.copy(central, 16, 14, 28);
    central.writeUInt32LE(offset, 42);
    locals.push(local, nameBytes, bytes);
    table.push(central, nameBytes);
    offset += local.length + nameBytes.length + bytes.length;
  }
  const directory = Buffer.concat(table);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
