import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';

import { atifDocument, chatMessages } from '../src/formats/export/export-json.ts';
import { otlpRequest } from '../src/formats/export/otlp-request.ts';
import { RunSpans } from '../src/formats/export/run-spans.ts';
import { readTranscript, type Transcript } from '../src/formats/export/transcript.ts';
import { atifImporter } from '../src/formats/atif/atif.ts';
import type { DocumentImporter } from '../src/formats/importer.ts';
import { openaiChatImporter } from '../src/formats/openai-chat/openai-chat.ts';
import { otlpLinesImporter } from '../src/formats/otlp/otlp.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { scriptRun } from './support/script-records.ts';
import { useStoresFolder } from './cli-stores.ts';
import { jsonLines } from './run-cli.ts';
import { everyPayload } from './support/every-payload.ts';
import { ATIF_SCHEMA } from './support/foreign-schemas.ts';
import { importDocument, importLines } from './support/import-check.ts';
import { scriptedRecords, type ScriptedCall } from './support/scripted-run.ts';

const here = useStoresFolder();
const SAMPLE = fileURLToPath(new URL('../samples/stuck-run.jsonl', import.meta.url));

const FORMS: readonly (readonly [string, DocumentImporter, object, (run: Transcript) => unknown])[] = [
  ['atif', atifImporter, ATIF_SCHEMA, (run) => atifDocument(run)],
];

async function* stream(records: readonly TrajectoryRecord[]): AsyncGenerator<TrajectoryRecord> {
  yield* records;
}

/** The compared facts of every call, in order. */
function callsOf(payloads: readonly TrajectoryPayload[]): readonly unknown[] {
  const ends = new Map(
    payloads.flatMap((end) => (end.kind === 'tool_ended' ? [[end.tool_call_id, end] as const] : [])),
  );
  return payloads.flatMap((started) => {
    if (started.kind !== 'tool_started') return [];
    const { args, tool_call_id: id, tool_name: tool } = started;
    const { is_error: failed, result, result_missing: missing } = ends.get(id) ?? { result_missing: true };
    return [{ id, tool, args, ...(missing === true ? { missing } : { failed, result }) }];
  });
}

const turns = fc.array(
  fc.record(
    {
      tool: fc.constantFrom('bash', 'read', 'weird "tool"'),
      args: fc.oneof(fc.jsonValue(), fc.constantFrom({ command: 'make' }, '{"cut', null, ['list'])),
      result: fc.oneof(fc.jsonValue(), fc.constantFrom('', 'Error: no such file', { ok: false })),
      isError: fc.boolean(),
      turn: fc.constantFrom(1, 2),
      noResult: fc.constantFrom(true, false, false),
      userBefore: fc.constantFrom(true, false, false),
    },
    { requiredKeys: ['tool'] },
  ),
  { maxLength: 12 },
);

test.each(FORMS)(
  '%s reads back to the same calls and is what its project accepts',
  async (_name, importer, schema, made) => {
    const accepts = new Ajv({ allErrors: true }).compile(schema);
    await fc.assert(
      fc.asyncProperty(turns, async (script) => {
        // Values as JSON has them: it knows no negative zero.
        const plain = JSON.parse(JSON.stringify(script)) as readonly ScriptedCall[];
        const records = scriptedRecords(plain, { task: 'Do it.' });
        const document = made(await readTranscript(stream(records)));
        accepts(document);
        expect(accepts.errors ?? []).toEqual([]);
        const [run] = importDocument(importer, document).runs;
        expect(callsOf(run?.payloads ?? [])).toEqual(callsOf(records.map(({ payload }) => payload)));
      }),
    );
  },
);

test('spans read back to the same calls, whatever their times', async () => {
  await fc.assert(
    fc.asyncProperty(turns, fc.constantFrom(0, 1_700_000_000_000), async (script, atMs) => {
      const plain = JSON.parse(JSON.stringify(script).replaceAll('null', '"none"')) as readonly ScriptedCall[];
      const records = scriptedRecords(plain).map((record) => Object.assign({}, record, { recorded_at_unix_ms: atMs }));
      const fold = new RunSpans({ runId: 'run' });
      const spans = [...records.flatMap((record) => fold.take(record)), ...fold.finish()];
      const [run] = importLines(otlpLinesImporter, [otlpRequest(spans, {})]).runs;
      expect(callsOf(run?.payloads ?? [])).toEqual(callsOf(records.map(({ payload }) => payload)));
    }),
  );
});

test.each(FORMS)('%s takes records of any kind in any order', async (_name, importer, schema, made) => {
  const accepts = new Ajv().compile(schema);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...everyPayload('a "text"')), { maxLength: 40 }), async (payloads) => {
      const transcript = await readTranscript(stream(scriptRun('run', payloads)));
      const document = made(transcript);
      expect([accepts(document), accepts.errors]).toEqual([true, null]);
      importDocument(importer, document);
      importDocument(openaiChatImporter, chatMessages(transcript));
    }),
  );
});

test('a run goes out in every form and comes back with the calls and the patterns of its records', async () => {
  expect((await here.run(['import', SAMPLE, '--store', 'runs.db'])).code).toBe(0);
  const summary = async (file: string): Promise<unknown> => {
    const { stdout } = await here.run(['analyze', file, '--json']);
    const [run] = jsonLines(stdout);
    return [run?.['calls'], run?.['errors'], run?.['patterns']];
  };
  const before = await summary(SAMPLE);
  expect(before).toEqual([39, 16, expect.arrayContaining([expect.objectContaining({ stuck: true })])]);
  for (const [format, file] of [
    ['atif', 'atif.json'],
    ['otlp', 'spans.jsonl'],
  ] as const) {
    const { code, stdout } = await here.run([
      'export',
      'sample',
      '--store',
      'runs.db',
      '--format',
      format,
      '--to',
      file,
    ]);
    expect([code, stdout]).toEqual([0, `1 run, 158 records written to ${file}\n`]);
    expect(await summary(file)).toEqual(before);
  }
  const { stdout } = await here.run(['export', '--store', 'runs.db', '--format', 'openai']);
  await writeFile(join(here.cwd, 'o.jsonl'), stdout);
  expect(await summary('o.jsonl')).toEqual([39, 0, expect.anything()]);
});

test('an openai export leaves out runs without messages and counts them, so that it can be read back', async () => {
  const payloads = (runId: string): readonly TrajectoryPayload[] => [
    { kind: 'run_started', identity: { run_id: runId, depth: 0 }, task: 'Wait' },
    { kind: 'run_ended', outcome: 'ended', new_messages: [] },
  ];
  const records = ['a', 'b'].flatMap((runId) => scriptRun(runId, payloads(runId)));
  await writeFile(join(here.cwd, 'r.ndjson'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await here.run(['import', 'r.ndjson', '--store', 'runs.db']);
  await here.run(['analyze', SAMPLE, '--store', 'runs.db']);
  const exported = await here.run(['export', '--store', 'runs.db', '--format', 'openai', '--to', 'o.jsonl']);
  expect(exported).toMatchObject({ code: 0, stdout: '1 run, 158 records written to o.jsonl\n' });
  expect(exported.stderr).toBe('coxswain: runs.db: note: 2 runs without messages left out\n');
  expect(await here.run(['analyze', 'o.jsonl', '--summary'])).toMatchObject({ code: 0, stderr: '' });
});

test('subagents are embedded in the trajectory of their parent', async () => {
  const payloads = (runId: string): readonly TrajectoryPayload[] => [
    { kind: 'run_started', identity: { run_id: runId, depth: 0 }, task: `Task of ${runId}` },
    { kind: 'run_ended', outcome: 'ended', new_messages: [] },
  ];
  const below = (runId: string, parent: string): readonly TrajectoryRecord[] =>
    scriptRun(runId, payloads(runId)).map((record) => Object.assign({}, record, { depth: 1, parent_run_id: parent }));
  const records = [...scriptRun('top', payloads('top')), ...below('b', 'top'), ...below('c', 'b')];
  await writeFile(join(here.cwd, 'r.ndjson'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await here.run(['import', 'r.ndjson', '--store', 'runs.db']);
  const { stdout } = await here.run(['export', 'top', '--store', 'runs.db', '--format', 'atif']);
  const document: unknown = JSON.parse(stdout);
  expect(new Ajv().validate(ATIF_SCHEMA, document)).toBe(true);
  const { runs } = importDocument(atifImporter, document);
  expect(runs.map(({ run }) => [run.id, run.parentId, run.task])).toEqual([
    ['top', undefined, 'Task of top'],
    ['b', 'top', 'Task of b'],
    ['c', 'b', 'Task of c'],
  ]);
});

test('a form, a target or runs that do not fit are one line and exit code 2', async () => {
  await here.recorded('runs.db');
  const wrong = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const { code, stderr, stdout } = await here.run(['export', '--store', 'runs.db', ...args]);
    return [code, stdout, stderr];
  };
  expect(await wrong('--format', 'xml')).toEqual([
    2,
    '',
    expect.stringMatching(/^coxswain: --format xml: give one of [^\n]+\n$/),
  ]);
  expect(await wrong('--html')).toEqual([
    2,
    '',
    expect.stringMatching(/^coxswain: --format html holds one run[^\n]+\n$/),
  ]);
  expect(await wrong('--html', '--format', 'atif')).toEqual([2, '', expect.stringContaining('not both')]);
  expect(await wrong('--html', '--to-store', 'x.db')).toEqual([2, '', expect.stringContaining('--to-store')]);
});

/** A collector that answers with these one after the other, and keeps the requests. */
async function collector(...answers: readonly (readonly [status: number, body: string])[]): Promise<Received> {
  const requests: Received['requests'][number][] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { authorization = '' } = request.headers;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Received['requests'][number]['body'];
      requests.push({ url: request.url ?? '', authorization, body });
      const [status, text] = answers[requests.length - 1] ?? [200, '{}'];
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  // A server that listens on a port has an address of this form.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

interface Received {
  readonly url: string;
  readonly requests: readonly {
    readonly url: string;
    readonly authorization: string;
    readonly body: {
      readonly resourceSpans: readonly {
        readonly scopeSpans: readonly { readonly spans: readonly { readonly name: string }[] }[];
      }[];
    };
  }[];
}

test('spans go to a collector in requests of bounded size, which are tried again where that may help', async () => {
  await here.recorded('runs.db');
  const { requests, url } = await collector([503, '']);
  const env = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc' };
  const sent = await here.run(['export', '--store', 'runs.db', '--format', 'otlp', '--to', url], { env });
  expect([sent.code, sent.stderr, sent.stdout]).toEqual([
    0,
    '',
    expect.stringMatching(/^2 runs, \d+ records written to http:\/\/127\.0\.0\.1:\d+\/v1\/traces\n$/),
  ]);
  expect(new Set(requests.map(({ authorization, url: path }) => `${path} ${authorization}`))).toEqual(
    new Set(['/v1/traces Basic abc']),
  );
  const sizes = requests.map(({ body }) => body.resourceSpans[0]?.scopeSpans[0]?.spans.length);
  // The first one twice; 8 and 300 calls and two runs.
  expect(sizes).toEqual([256, 256, 54]);
});

test('a collector that refuses is named on standard error, nothing more is sent, and nothing counts as written', async () => {
  await here.recorded('runs.db');
  for (const [status, body, why] of [
    [400, '', 'it answered 400'],
    [200, '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}', 'it left out 3 spans: too old'],
  ] as const) {
    const { requests, url } = await collector([status, body]);
    const { code, stderr, stdout } = await here.run(['export', '--store', 'runs.db', '--format', 'otlp', '--to', url]);
    expect([code, requests.length]).toEqual([1, 1]);
    expect(stderr).toContain(why);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
  }
});

test('a file of spans has the same bytes each time', async () => {
  await here.recorded('runs.db');
  const files = ['one.jsonl', 'two.jsonl'];
  for (const file of files) await here.run(['export', 'alpha', '--store', 'runs.db', '--format', 'otlp', '--to', file]);
  const [one, two] = await Promise.all(files.map((file) => readFile(join(here.cwd, file), 'utf8')));
  expect(one).toBe(two);
  expect(one).toContain('"name":"coxswain.pattern"');
});
