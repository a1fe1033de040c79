import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPromise } from 'yauzl';
import { CoxswainError } from '../../core/base/error.ts';
import { importDocument } from '../../../test/support/import-check.ts';
import { mutatedJson } from '../../../test/support/json-mutation.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import type { ArchiveReader } from '../importer.ts';
import { inspectArchiveImporter, inspectDocumentImporter } from './inspect.ts';

const source = { path: 'log.json', name: 'log.json' };

const call = (id: string, args: object) => ({ id, function: 'bash', arguments: args, type: 'function' });
const sample = {
  id: 'task-a',
  epoch: 2,
  input: 'Fix it.',
  target: '',
  messages: [
    { id: 'm1', role: 'user', content: 'Fix it.', source: 'input' },
    {
      id: 'm2',
      role: 'assistant',
      model: 'gpt',
      tool_calls: [call('c1', { cmd: 'attachment://h1' }), call('c2', { cmd: 'b' })],
      content: [
        { type: 'reasoning', reasoning: 'Hm.' },
        { type: 'text', text: 'I look.' },
      ],
    },
    {
      id: 'm3',
      role: 'tool',
      tool_call_id: 'c2',
      function: 'bash',
      content: '',
      error: { type: 'timeout', message: 'timed out' },
    },
    { id: 'm4', role: 'tool', tool_call_id: 'c1', function: 'bash', content: 'attachment://h2' },
    { id: 'm5', role: 'assistant', content: 'Error: is only a word here', model: 'gpt' },
  ],
  scores: { match: { value: 'C' }, other: { value: 0.25 } },
  attachments: { h1: 'a long command', h2: 'fatal: a long result' },
  events: [
    { event: 'sample_init', timestamp: '2025-05-12T20:27:36-04:00' },
    {
      event: 'model',
      timestamp: '2025-05-12T20:27:37-04:00',
      completed: '2025-05-12T20:27:38-04:00',
      output: {
        choices: [{ message: { id: 'm2' } }],
        usage: { input_tokens: 7, output_tokens: 3, input_tokens_cache_read: 2 },
      },
    },
    { event: 'tool', id: 'c1', timestamp: '2025-05-12T20:27:38-04:00', completed: '2025-05-12T20:27:41-04:00' },
    { event: 'compaction', timestamp: '2025-05-12T20:27:42-04:00' },
  ],
};
const log = {
  version: 2,
  status: 'success',
  eval: { eval_id: 'E1', task: 't', model: 'openai/gpt', created: '2025-05-12T20:00:00-04:00' },
  samples: [sample, { ...sample, epoch: 1, scores: { match: { value: 'I' } } }],
};

function archiveOf(entries: Readonly<Record<string, string>>): ArchiveReader {
  return {
    entries: Object.entries(entries).map(([name, text]) => ({ name, sizeBytes: text.length })),
    readText: async (name) => {
      const text = entries[name];
      if (text === undefined || text === 'BROKEN') throw new CoxswainError('format-invalid', `${name} is damaged`);
      return await Promise.resolve(text);
    },
  };
}

async function importArchive(entries: Readonly<Record<string, string>>, name = 'log.eval') {
  const items = await Array.fromAsync(inspectArchiveImporter.read(archiveOf(entries), { path: name, name }));
  // Checks the items; what they were read from does not matter to it.
  return importDocument({ ...inspectDocumentImporter, read: () => items }, null);
}

test('each sample and epoch is a run with the names of its log', () => {
  const { runs } = importDocument(inspectDocumentImporter, log);
  expect(runs.map(({ run }) => run.id)).toEqual(['E1/task-a/epoch-2', 'E1/task-a/epoch-1']);
  expect(runs[0]?.run).toMatchObject({
    task: 'Fix it.',
    modelId: 'openai/gpt',
    startedAtMs: Date.UTC(2025, 4, 13, 0, 27, 36),
  });
});

test('calls come from messages, paired by id, with attachments put back', () => {
  const [run] = importDocument(inspectDocumentImporter, log).runs;
  expect(run?.calls.map((one) => [one.tool_call_id, one.tool_name, one.args])).toEqual([
    ['c1', 'bash', { cmd: 'a long command' }],
    ['c2', 'bash', { cmd: 'b' }],
  ]);
  expect(run?.ends.map((end) => [end.tool_call_id, end.result])).toEqual([
    ['c2', 'timed out'],
    ['c1', 'fatal: a long result'],
  ]);
});

test('the tool message’s error is the flag, and its text is never guessed from', () => {
  const [run] = importDocument(inspectDocumentImporter, log).runs;
  expect(run?.ends.map((end) => [end.is_error, end.error_inferred])).toEqual([
    [true, undefined],
    [false, undefined],
  ]);
});

test('events lend times, durations and tokens', () => {
  const [run] = importDocument(inspectDocumentImporter, log).runs;
  const answer = run?.payloads[2];
  expect(answer).toMatchObject({
    message: { role: 'assistant', model_id: 'gpt', usage: { input_tokens: 7, output_tokens: 3, cache_read_tokens: 2 } },
  });
  expect(run?.atMs[2]).toBe(Date.UTC(2025, 4, 13, 0, 27, 38));
  expect(run?.ends.map((end) => end.duration_ms)).toEqual([undefined, 3000]);
});

test('without message ids, the usage of an answer is that of the request with its content', () => {
  const answer = (text: string) => ({ role: 'assistant', content: text });
  const request = (text: string, tokens: number) => ({
    event: 'model',
    timestamp: '2025-05-12T20:27:37Z',
    output: { choices: [{ message: answer(text) }], usage: { input_tokens: tokens, output_tokens: 1 } },
  });
  const messages = [{ role: 'user', content: 'Count.' }, answer('one'), answer('two'), answer('one')];
  const events = [request('one', 10), request('two', 20), request('one', 30), request('a grade', 99)];
  const [run] = importDocument(inspectDocumentImporter, { ...log, samples: [{ ...sample, messages, events }] }).runs;
  const usages = run?.payloads.flatMap((one) =>
    one.kind === 'message_appended' && one.message.role === 'assistant' ? one.message.usage?.input_tokens : [],
  );
  expect(usages).toEqual([10, 20, 30]);
});

test('the first score is the reward, all of them are labels', () => {
  const { runs, diagnostics } = importDocument(inspectDocumentImporter, log);
  expect(runs.map(({ payloads }) => payloads.at(-1))).toMatchObject([
    { outcome: 'ended', success: true, reward: 1, labels: { scores: { match: 'C', other: 0.25 } } },
    { outcome: 'ended', success: false, reward: 0 },
  ]);
  expect(diagnostics.map(({ message }) => message)).toEqual(
    Array(2).fill('left out: 1 compactions at an unknown position'),
  );
});

test.each([
  [{ error: { message: 'boom' } }, { outcome: 'error', labels: { error: 'boom' } }],
  [
    { limit: { type: 'message', limit: 9 }, scores: { s: { value: 0.5 } } },
    { outcome: 'limit', reward: 0.5 },
  ],
  [{ scores: { s: { value: true } } }, { outcome: 'ended', success: true, reward: 1 }],
])('outcome of %j', (ended, expected) => {
  const [run] = importDocument(inspectDocumentImporter, {
    ...log,
    samples: [{ id: 1, epoch: 1, messages: [], ...ended }],
  }).runs;
  expect(run?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', ...expected });
});

test('a sample without scores, error or limit does not say how it ended', () => {
  const [run] = importDocument(inspectDocumentImporter, { ...log, samples: [{ id: 1, epoch: 1, messages: [] }] }).runs;
  expect(run?.payloads).toEqual([]);
});

test('a result whose call is in no message is a call with null args', () => {
  const messages = [
    { role: 'tool', tool_call_id: 'x', function: 'bash', content: 'y', error: { type: 'unknown', message: 'z' } },
  ];
  const { runs, diagnostics } = importDocument(inspectDocumentImporter, {
    ...log,
    samples: [{ id: 1, epoch: 1, messages }],
  });
  expect(runs[0]?.calls).toMatchObject([{ tool_call_id: 'x', tool_name: 'bash', args: null }]);
  expect(runs[0]?.ends).toMatchObject([{ is_error: true, result: 'y' }]);
  expect(diagnostics).toHaveLength(1);
});

test('an archive is read sample by sample; a broken one costs only itself', async () => {
  const { samples, ...header } = log;
  const checked = await importArchive({
    'header.json': JSON.stringify(header),
    'summaries.json': 'never read',
    'samples/task-a_epoch_2.json': JSON.stringify(samples[0]),
    'samples/b_epoch_1.json': 'BROKEN',
    'samples/task-a_epoch_1.json': JSON.stringify(samples[1]),
  });
  expect(checked.runs.map(({ run }) => run.id)).toEqual(['E1/task-a/epoch-2', 'E1/task-a/epoch-1']);
  expect(checked.diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(1);
});

test('an archive of an eval that crashed has its names from the journal', async () => {
  const checked = await importArchive({
    '_journal/start.json': JSON.stringify({ version: 2, eval: log.eval }),
    'samples/task-a_epoch_2.json': JSON.stringify(sample),
  });
  expect(checked.runs.map(({ run }) => run.id)).toEqual(['E1/task-a/epoch-2']);
});

test('bare NaN and Infinity, as Python writes them, are null, and stay where they are text', async () => {
  const text = String.raw`{"id":1,"epoch":1,"messages":[{"role":"user","content":"say \"NaN\" \\"}],"scores":{"s":{"value":NaN},"t":{"value":-Infinity}}}`;
  const { runs } = await importArchive({ 'header.json': JSON.stringify(log), 'samples/1_epoch_1.json': text });
  expect(runs[0]?.payloads[0]).toMatchObject({ message: { content: String.raw`say "NaN" \ `.trim() } });
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ labels: { scores: { s: null, t: null } } });
});

test('it recognises only its own logs and archives', () => {
  const recognise = (value: unknown) => inspectDocumentImporter.recognise(value, source);
  expect(recognise(log)).toBe(1);
  expect(recognise({ ...log, samples: undefined })).toBeGreaterThan(0.8);
  expect(recognise({ id: 'x', calls: [] })).toBe(0);
  expect(recognise({ schema_version: 'ATIF-v1.7', agent: {}, steps: [] })).toBe(0);
  expect(recognise({ simulations: [], tasks: [] })).toBe(0);
  expect(inspectArchiveImporter.recognise(['header.json', 'samples/a_epoch_1.json'], source)).toBe(1);
  expect(inspectArchiveImporter.recognise(['word/document.xml'], source)).toBe(0);
});

test('no JSON value makes it throw', async () => {
  const value = fc.oneof(fc.jsonValue(), mutatedJson(log));
  fc.assert(
    fc.property(value, (document) => {
      expect(inspectDocumentImporter.recognise(document, source)).toBeLessThanOrEqual(1);
      importDocument(inspectDocumentImporter, document);
    }),
    { numRuns: 500 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.jsonValue(), mutatedJson(sample)),
      fc.oneof(fc.string(), fc.json()),
      async (one, text) => {
        const entries = {
          'header.json': text,
          'samples/a_epoch_1.json': JSON.stringify(one) ?? '',
          'samples/b_epoch_1.json': text,
        };
        await importArchive(entries);
      },
    ),
  );
});

interface RawSample {
  readonly messages: readonly {
    readonly role: string;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
    readonly error?: unknown;
  }[];
}

/** Calls of the messages, and results whose call is in none of them. */
function countCalls({ messages }: RawSample): number {
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  const known = new Set(calls.map(({ id }) => id));
  const orphans = messages.filter(({ role, tool_call_id: id }) => role === 'tool' && !known.has(id ?? ''));
  return calls.length + orphans.length;
}

function countErrors({ messages }: RawSample): number {
  return messages.filter(({ role, error }) => role === 'tool' && error !== undefined && error !== null).length;
}

const logs = sharedPath('trajectories', 'raw', 'inspect-ai-log');

test.skipIf(logs === undefined).each([
  ['2025-05-12T20-27-36-04-00_browser.json', 4],
  ['2025-05-12T20-28-26-04-00_security-guide.json', 0],
  ['log_tool_call_error.json', 11],
])('%s: as many runs, calls and errors as the log has (needs ../shared)', (name, calls) => {
  // The shape of the file, as its SOURCE.txt names it.
  const document = JSON.parse(readFileSync(`${logs}/${name}`, 'utf8')) as { samples: readonly RawSample[] };
  expect(inspectDocumentImporter.recognise(document, source)).toBe(1);
  const { runs } = importDocument(inspectDocumentImporter, document, name);
  expect(runs.map((run) => run.calls.length)).toEqual(document.samples.map((one) => countCalls(one)));
  expect(runs.flatMap((run) => run.calls)).toHaveLength(calls);
  expect(runs.map((run) => run.ends.filter((end) => end.is_error).length)).toEqual(
    document.samples.map((one) => countErrors(one)),
  );
  expect(JSON.stringify(runs)).not.toContain('attachment://');
});

const archives = sharedPath('trajectories', 'raw', 'inspect-ai-eval-zip');

async function unzipped(path: string): Promise<Record<string, string>> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true });
  const texts: Record<string, string> = {};
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    // The stream has no encoding, so it gives buffers.
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    texts[entry.fileName] = Buffer.concat(chunks).toString('utf8');
  }
  zip.close();
  return texts;
}

test.skipIf(archives === undefined).each([
  ['2025-09-23T08-09-58-04-00_security-guide_LuxZJVwvymC3S3SyoJczxB.eval', 16],
  ['2025-11-07T10-59-47-05-00_websearch-addition-problem_LqPDntDnkk4h2fSqQ8i6CE.eval', 1],
])('%s: as many runs and calls as the archive has (needs ../shared)', async (name, count) => {
  const entries = await unzipped(`${archives}/${name}`);
  const texts = Object.entries(entries).filter(([entry]) => entry.startsWith('samples/'));
  const samples = texts.map(([, text]) => JSON.parse(text) as RawSample);
  expect(inspectArchiveImporter.recognise(Object.keys(entries), source)).toBe(1);
  const { runs, diagnostics } = await importArchive(entries, name);
  expect(runs).toHaveLength(count);
  expect(runs.map((run) => run.calls.length)).toEqual(samples.map((one) => countCalls(one)));
  expect(runs.every(({ payloads }) => payloads.at(-1)?.kind === 'run_ended')).toBe(true);
  expect(diagnostics).toEqual([]);
});

test('a task beside an image is the text, and the only answer of a log without events has the tokens of the output', () => {
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image', image: 'data:image/png;base64,AA==' },
  ];
  const [run] = importDocument(inspectDocumentImporter, {
    eval: { task: 't', model: 'm' },
    samples: [
      {
        id: 1,
        epoch: 1,
        input: [{ role: 'user', content }],
        messages: [
          { role: 'user', content },
          { role: 'assistant', content: 'A cat.' },
        ],
        output: { usage: { input_tokens: 300, output_tokens: 28 } },
      },
    ],
  }).runs;
  const answer = run?.payloads.find((one) => one.kind === 'message_appended' && one.message.role === 'assistant');
  expect(run?.run.task).toBe('What is this?');
  expect(answer).toMatchObject({ message: { usage: { input_tokens: 300, output_tokens: 28 } } });
});
