import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { JsonObject } from '../../core/base/json.ts';
import { importDocument, importLines } from '../../../test/support/import-check.ts';
import { mutatedJson } from '../../../test/support/json-mutation.ts';
import { surest } from '../reading/choose-importer.ts';
import { importers } from '../importers.ts';
import { otlpDocumentImporter, otlpLinesImporter } from './otlp.ts';
import { readSpans } from './read-spans.ts';
import { traceRuns } from './trace-runs.ts';
import { hexId, OTEL_RUN_PREFIX, type TraceSpan } from './trace-span.ts';

/** One scene as each instrumentation tells it: four failing calls, one that succeeds, a last answer. */
const SAMPLES = [
  { file: 'genai-console.jsonl', id: 'agent', calls: 'bash! bash! bash! bash! read_file', agent: 'repairer' },
  { file: 'openinference-phoenix.json', id: 'agent', calls: 'bash! bash! bash! bash! read_file', agent: 'repairer' },
  // Without spans of tools, results come from the next request, which has no flag.
  { file: 'openllmetry-otlp.jsonl', id: 'agent', calls: 'bash bash bash bash read_file', agent: 'repairer' },
  { file: 'langfuse-observations.jsonl', id: 'agent', calls: 'bash! bash! bash! bash! read_file', agent: 'repairer' },
  { file: 'claude-code-logs.jsonl', id: 'session', calls: 'Bash! Bash! Bash! Bash! Read?', agent: undefined },
  {
    file: 'codex-logs.jsonl',
    id: 'session',
    calls: 'exec_command! exec_command! exec_command! exec_command! read_file',
    agent: undefined,
  },
] as const;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const IDS = { agent: `otel-${TRACE}-b7ad6b7169200001`, session: expect.stringMatching(/^otel-s[0-9a-f]{32}$/) };

function valuesOf(file: string): readonly unknown[] {
  const text = readFileSync(fileURLToPath(new URL(`../../../test/otlp-samples/${file}`, import.meta.url)), 'utf8');
  if (file.endsWith('.json')) return [JSON.parse(text)];
  return text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

function imported(values: readonly unknown[]): ReturnType<typeof importLines> {
  const [first] = values;
  return values.length === 1 ? importDocument(otlpDocumentImporter, first) : importLines(otlpLinesImporter, values);
}

function callsOf({ calls, ends }: ReturnType<typeof importLines>['runs'][number]): string {
  const endOf = new Map(ends.map((end) => [end.tool_call_id, end]));
  return calls
    .map(({ tool_call_id: id, tool_name: name }) => {
      const end = endOf.get(id);
      return `${name}${end?.result_missing === true ? '?' : end?.is_error === true ? '!' : ''}`;
    })
    .join(' ');
}

test.each(SAMPLES)('$file is one run with the calls, failures, turns, usage and task of the scene', (sample) => {
  const values = valuesOf(sample.file);
  const source = { path: sample.file, name: sample.file };
  const readers = importers.filter(({ shape }) => shape === (values.length === 1 ? 'document' : 'lines'));
  const best = surest(readers, (importer) => {
    if (importer.shape === 'archive' || importer.shape === 'text') return 0;
    return importer.shape === 'document' ? importer.recognise(values[0], source) : importer.recognise(values, source);
  });
  expect(best?.importer.format).toBe('otlp');
  const { runs, diagnostics } = imported(values);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const [run] = runs;
  expect(runs).toHaveLength(1);
  expect(run?.run).toMatchObject({ id: IDS[sample.id], task: 'Make the tests pass.', format: 'otlp' });
  expect(run?.run.agentName).toBe(sample.agent);
  expect(run && callsOf(run)).toBe(sample.calls);
  expect(run?.calls[0]?.args).toEqual({ command: 'npm test' });
  expect(run?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(6);
  const users = run?.payloads.filter(
    (payload) => payload.kind === 'message_appended' && payload.message.role === 'user',
  );
  expect(users).toHaveLength(1);
  const usage = run?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' && payload.message.role === 'assistant' ? [payload.message.usage] : [],
  );
  expect(usage).toEqual(
    Array.from({ length: 6 }, () => expect.objectContaining({ input_tokens: 100, output_tokens: 20 })),
  );
});

test.each(SAMPLES)('the spans of $file give the same items in any order, split and repetition', ({ file }) => {
  const spans = valuesOf(file).flatMap((value) => readSpans(value)?.spans ?? []);
  const [traceId = ''] = spans.map((one) => one.traceId);
  const whole = [...traceRuns(traceId, spans)];
  expect(whole.length).toBeGreaterThan(10);
  fc.assert(
    fc.property(fc.shuffledSubarray(spans, { minLength: spans.length }), fc.subarray(spans), (order, again) => {
      expect([...traceRuns(traceId, [...order, ...again])]).toEqual(whole);
    }),
    { numRuns: 50 },
  );
});

test.each(SAMPLES)('whatever stands in the place of a part of $file, the items keep their promises', ({ file }) => {
  const values = valuesOf(file);
  const last = values.length - 1;
  const mutation = fc.nat(last).chain((at) => mutatedJson(values[at]).map((value) => ({ at, value })));
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (mutations) => {
      const changed = [...values];
      for (const { at, value } of mutations) changed[at] = value;
      expect(() => imported(changed)).not.toThrow();
    }),
    { numRuns: 200 },
  );
});

const START = 1_764_000_000_000;

/** A span of the GenAI conventions, with times in milliseconds from the beginning. */
function span(id: string, more: Partial<TraceSpan> & { readonly at?: readonly [number, number] } = {}): TraceSpan {
  const { at = [0, 1], ...rest } = more;
  return {
    traceId: 't',
    spanId: id,
    name: id,
    startMs: START + at[0],
    endMs: START + at[1],
    attributes: {},
    events: [],
    ...rest,
  };
}

function agent(id: string, more: Parameters<typeof span>[1] = {}): TraceSpan {
  return span(id, { attributes: { 'gen_ai.operation.name': 'invoke_agent' }, ...more });
}

function tool(id: string, more: Parameters<typeof span>[1] = {}, attributes: TraceSpan['attributes'] = {}): TraceSpan {
  const own = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'bash' };
  return span(id, { ...more, attributes: { ...own, ...attributes } });
}

function chat(id: string, more: Parameters<typeof span>[1] = {}, attributes: TraceSpan['attributes'] = {}): TraceSpan {
  return span(id, { ...more, attributes: { 'gen_ai.operation.name': 'chat', ...attributes } });
}

function runIdOf(name: string): string {
  return OTEL_RUN_PREFIX + name.split('-').map(hexId).join('-');
}

function runsOf(
  ...spans: readonly TraceSpan[]
): readonly { readonly id: string; readonly below: string | undefined; readonly calls: string }[] {
  const values = spans.map(({ startMs, endMs, parentId, ...rest }) =>
    Object.assign(rest, {
      startTimeUnixNano: `${startMs}000000`,
      endTimeUnixNano: endMs === undefined ? null : `${endMs}000000`,
      parentSpanId: parentId ?? null,
    }),
  );
  const names = new Map(['t', ...spans.map(({ spanId }) => `t-${spanId}`)].map((name) => [runIdOf(name), name]));
  return importLines(otlpLinesImporter, values).runs.map((run) => ({
    id: names.get(run.run.id) ?? run.run.id,
    below: run.run.parentId === undefined ? undefined : names.get(run.run.parentId),
    calls: callsOf(run),
  }));
}

test('no trace or span can choose the id of another run: an id that is not hexadecimal is hashed', () => {
  const made = (id: string): string =>
    [...traceRuns(hexId(id), [agent(id)])].flatMap((item) => (item.type === 'run' ? [item.run.id] : []))[0] ?? '';
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (id) => {
      expect(made(id)).toMatch(/^otel-(?:[0-9a-f]{1,64}|x[0-9a-f]{32})-(?:[0-9a-f]{1,64}|x[0-9a-f]{32})$/);
    }),
  );
  expect(made('0123abcd')).toBe('otel-0123abcd-0123abcd');
});

test('an agent span below an agent span is a child run, also with other spans between them', () => {
  expect(
    runsOf(
      tool('c', { parentId: 'b', at: [3, 4] }, { 'gen_ai.tool.call.result': 'x' }),
      agent('b', { parentId: 'work', at: [2, 5] }),
      span('work', { parentId: 'task', at: [1, 6] }),
      tool('task', { parentId: 'a', at: [1, 7] }, { 'gen_ai.tool.name': 'task', 'gen_ai.tool.call.result': 'done' }),
      agent('a', { at: [0, 9] }),
    ),
  ).toEqual([
    { id: 't-a', below: undefined, calls: 'task' },
    { id: 't-b', below: 't-a', calls: 'bash' },
  ]);
});

test('a call that requests of a model are below is a child run; a repeated report of one request is left out', () => {
  expect(
    runsOf(
      agent('a', { at: [0, 90] }),
      chat('m', { parentId: 'a', at: [1, 5] }),
      chat('again', { parentId: 'm', at: [2, 4] }),
      tool('task', { parentId: 'a', at: [6, 50] }, { 'gen_ai.tool.call.result': 'x' }),
      chat('inner', { parentId: 'task', at: [7, 9] }),
      tool('deep', { parentId: 'task', at: [10, 11] }, { 'gen_ai.tool.call.result': 'x' }),
    ),
  ).toEqual([
    { id: 't-a', below: undefined, calls: 'bash' },
    { id: 't-task', below: 't-a', calls: 'bash' },
  ]);
});

test('a request that contains requests and calls stands for their loop, and is not counted as a request', () => {
  const [run] = importLines(
    otlpLinesImporter,
    [
      chat('sum', { at: [0, 90] }),
      chat('first', { parentId: 'sum', at: [1, 5] }),
      tool('call', { parentId: 'sum', at: [6, 7] }, { 'gen_ai.tool.call.result': 'x' }),
      chat('second', { parentId: 'sum', at: [8, 9] }),
    ].map(({ startMs, endMs, ...rest }) =>
      Object.assign(rest, {
        startTimeUnixNano: `${startMs}000000`,
        endTimeUnixNano: `${endMs}000000`,
        parentSpanId: rest.parentId ?? null,
      }),
    ),
  ).runs;
  expect(run?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(2);
  expect(run?.calls).toHaveLength(1);
});

test('the kind that the client of Phoenix writes beside the attributes counts', () => {
  const client = (span_id: string, span_kind: string, attributes: object): object => ({
    name: span_id,
    context: { trace_id: 't', span_id },
    span_kind,
    parent_id: span_id === 'agent' ? null : 'agent',
    start_time: '2026-10-12T22:00:00.000+00:00',
    end_time: '2026-10-12T22:00:01.000+00:00',
    status_code: 'OK',
    attributes,
  });
  const { runs } = importDocument(otlpDocumentImporter, [
    client('agent', 'AGENT', { 'input.value': 'Find the total' }),
    client('query', 'TOOL', { 'tool.name': 'query', 'input.value': '{}', 'output.value': '42' }),
  ]);
  expect(runs.map(({ calls }) => calls.map(({ tool_name }) => tool_name))).toEqual([['query']]);
});

test('an agent span that never ended leaves a run of the trace; spans whose parent never came are of the only agent', () => {
  const made = [tool('x', { parentId: 'gone', at: [1, 2] }, { 'gen_ai.tool.call.result': 'x' })];
  expect(runsOf(...made)).toEqual([{ id: 't', below: undefined, calls: 'bash' }]);
  expect(runsOf(...made, agent('a'))).toEqual([{ id: 't-a', below: undefined, calls: 'bash' }]);
});

test('what was not captured is stated and not made up: calls without arguments are no repetition', () => {
  const spans = [
    agent('a', { at: [0, 9] }),
    ...['x', 'y', 'z'].map((id, at) => tool(id, { parentId: 'a', at: [at + 1, at + 2] })),
  ];
  const items = [...traceRuns('t', spans)];
  const records = items.flatMap((item) => (item.type === 'record' ? [item.payload] : []));
  const args = records.flatMap((payload) => (payload.kind === 'tool_started' ? [JSON.stringify(payload.args)] : []));
  expect(new Set(args).size).toBe(3);
  expect(records.filter((payload) => payload.kind === 'tool_ended' && payload.result_missing === true)).toHaveLength(3);
  expect(records.find(({ kind }) => kind === 'session_event')).toMatchObject({
    event_type: 'otel.not_captured',
    data: { arguments: 3, results: 3 },
  });
  expect(items.flatMap((item) => (item.type === 'diagnostic' ? [item.diagnostic.message] : []))).toEqual([
    'not in the run: 3 arguments of calls, 3 results of calls',
  ]);
});

test('the event with the details of a request counts, within its span or as a separate log record', () => {
  const details = {
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 'grep', arguments: { q: 1 } }] },
    ]),
  };
  const event = { name: 'gen_ai.client.inference.operation.details', attributes: details };
  const log = {
    resourceLogs: [
      {
        scopeLogs: [
          {
            logRecords: [
              {
                eventName: event.name,
                traceId: 't',
                spanId: 'm',
                timeUnixNano: `${START}000000`,
                attributes: Object.entries(details).map(([key, stringValue]) => ({ key, value: { stringValue } })),
              },
            ],
          },
        ],
      },
    ],
  };
  const within = [...traceRuns('t', [chat('m', { events: [event] })])];
  const beside = [...traceRuns('t', [...(readSpans(log)?.spans ?? []), chat('m')])];
  expect(within).toEqual(beside);
  expect(within).toContainEqual(
    expect.objectContaining({ payload: expect.objectContaining({ kind: 'tool_started', tool_name: 'grep' }) }),
  );
});

test('spans that are their own parents, deep chains and odd ids end', () => {
  const chain = Array.from({ length: 3_000 }, (_, at) => span(`s${at}`, { parentId: `s${at + 1}` }));
  expect(runsOf(agent('a', { parentId: 'b' }), agent('b', { parentId: 'a' }), ...chain).map(({ id }) => id)).toEqual([
    't-a',
    't-b',
  ]);
  const odd = tool('__proto__', { parentId: 'constructor' }, { 'gen_ai.tool.call.result': 'x', __proto__: 'y' });
  expect(runsOf(odd)).toEqual([{ id: 't', below: undefined, calls: 'bash' }]);
});

const USER = { role: 'user', content: 'Go.' };
const callOf = (id: string, path: string): JsonObject => ({
  id,
  function: { name: 'read', arguments: `{"path":"${path}"}` },
});
const answered: readonly JsonObject[] = [
  { role: 'assistant', content: null, tool_calls: [callOf('c1', 'a'), callOf('c2', 'b')] },
  { role: 'tool', tool_call_id: 'c1', content: 'A' },
  { role: 'tool', tool_call_id: 'c2', content: 'B' },
];
const joined = { id: 'c1c2', function: { name: 'readread', arguments: '{"path":"a"}{"path":"b"}' } };

test('calls that the span of a streamed answer joins into one are read from the next request', () => {
  const first = {
    'gen_ai.input.messages': [USER],
    'gen_ai.output.messages': [{ role: 'assistant', tool_calls: [joined] }],
  };
  const next = { 'gen_ai.input.messages': [USER, ...answered], 'gen_ai.output.messages': [{ content: 'Done.' }] };
  const spans = [chat('m', { at: [0, 1] }, first), chat('n', { at: [2, 3] }, next)];
  expect(runsOf(...spans)).toEqual([{ id: 't', below: undefined, calls: 'read read' }]);
});

test('a tool that starts in the same millisecond as the next request belongs to the answer that named it', () => {
  const output = (path: string): JsonObject => ({
    'gen_ai.output.messages': [{ role: 'assistant', tool_calls: [callOf(path, path)] }],
  });
  const run = (path: string): JsonObject => ({
    'gen_ai.tool.name': 'read',
    'gen_ai.tool.call.arguments': { path },
    'gen_ai.tool.call.result': path,
  });
  const spans = [
    chat('m', { at: [0, 1] }, output('a')),
    tool('x', { at: [1, 2] }, run('a')),
    chat('n', { at: [1, 4] }, output('b')),
    tool('y', { at: [4, 5] }, run('b')),
  ];
  expect(runsOf(...spans)).toEqual([{ id: 't', below: undefined, calls: 'read read' }]);
});

test('a tool whose span has an error status failed, also with a result; a translated span may repeat an earlier status', () => {
  const failed = { status: { code: 2 } } as object;
  const result = { 'gen_ai.tool.call.result': 'no such file' };
  const translated = { ...result, 'openinference.span.kind': 'TOOL', 'output.value': 'fine' };
  const ids = agent('a', { at: [0, 9] });
  const plain = tool('x', { parentId: 'a', at: [1, 2], ...failed }, result);
  expect(runsOf(ids, plain, tool('y', { parentId: 'a', at: [3, 4], ...failed }, translated))).toEqual([
    { id: 't-a', below: undefined, calls: 'bash! bash' },
  ]);
});

test('an agent span at the top with nothing but one agent span is no run', () => {
  const inner = agent('b', { parentId: 'a', at: [1, 8] });
  expect(runsOf(agent('a', { at: [0, 9] }), inner, tool('x', { parentId: 'b', at: [2, 3] }))).toEqual([
    { id: 't-b', below: undefined, calls: 'bash?' },
  ]);
});
