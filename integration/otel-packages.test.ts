/** The packages that export traces of agents, each in its own process, against a fake model and our server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import type { Json } from '../src/core/base/json.ts';
import { importSource } from '../src/formats/import-source.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { OtlpEndpoint } from '../src/hosts/otlp/otlp-endpoint.ts';
import { OtlpIntake } from '../src/hosts/otlp/otlp-intake.ts';
import { startOtlpServer } from '../src/hosts/otlp/otlp-server.ts';
import { defaultDetectors } from '../src/core/detect/detectors/default-detectors.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { RunView } from '../src/core/facts/run-view.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { listAll, readAll } from '../test/support/script-records.ts';
import { startFakeOpenAiServer } from '../src/testing/fake-openai-server.ts';
import type { ModelFunction } from '../src/testing/model-script.ts';
import { endWithTest } from '../test/support/end-with-test.ts';
import { tempFolder } from '../test/support/temp-folder.ts';
import { loopHarness } from './openai-chat.harness.ts';
import { PROMPT, runTool, TURNS, type ToolArguments } from './otel/scene.ts';
import { factsOf, type Facts } from './run-facts.ts';

/** A package, with the facts of the scene that it does not report. */
interface Package {
  readonly program: string;
  /** Absent if no span is that of an agent. */
  readonly agent?: string;
  /** The modes without token counts, or with the package's own estimate. */
  readonly wrongTokens?: readonly Mode[];
  /** True if no answer names its calls, and a failed call has the tool's class and error, not its name and the text that the model saw. */
  readonly namesClasses?: boolean;
  /** True if a failed request leaves the spans around it open. */
  readonly leavesOpen?: boolean;
  /** True if nothing after the last call was reported when the next request failed. */
  readonly losesLastResult?: boolean;
}

type Mode = 'chat' | 'chat stream' | 'responses' | 'responses stream';

const MODES: readonly Mode[] = ['chat', 'chat stream', 'responses', 'responses stream'];
const agent = 'repairer';
const wrongTokens: readonly Mode[] = ['chat stream', 'responses stream'];
const PACKAGES: readonly Package[] = [
  { program: 'openinference-openai', wrongTokens: ['chat stream'], losesLastResult: true },
  { program: 'openinference-core', agent, wrongTokens: ['chat stream'] },
  { program: 'openinference-langchain' },
  { program: 'openinference-openai-agents', agent },
  { program: 'openinference-vercel' },
  { program: 'traceloop', agent, wrongTokens, leavesOpen: true, losesLastResult: true },
  { program: 'traceloop-tools', agent, wrongTokens, leavesOpen: true, losesLastResult: true },
  {
    program: 'traceloop-langchain',
    agent,
    wrongTokens: ['responses', 'responses stream'],
    namesClasses: true,
    leavesOpen: true,
  },
  { program: 'langfuse-openai', agent },
  { program: 'langfuse-langchain' },
  { program: 'opentelemetry-openai' },
];

interface Played {
  readonly code: number | null;
  readonly errors: string;
  /** Records of each run, as our server recorded them. */
  readonly runs: readonly (readonly TrajectoryRecord[])[];
  /** The same, from the file of spans, if the program writes one. */
  readonly fromFile: readonly (readonly TrajectoryRecord[])[] | undefined;
}

async function play(program: string, mode: Mode, script: ModelFunction, env = {}): Promise<Played> {
  const folder = await tempFolder();
  const model = await startFakeOpenAiServer({ script });
  const store = memoryStore();
  const clock = createFakeClock();
  const faults: string[] = [];
  const intake = new OtlpIntake({
    owner: { env: { HOME: folder.path }, projectFolder: folder.path },
    clock,
    withTarget: (work) => work({ store, redact: (payload) => payload }),
    onFault: ({ message }) => faults.push(message),
  });
  const endpoint = new OtlpEndpoint((found) => intake.take(found));
  const server = await startOtlpServer({ host: '127.0.0.1', port: 0, token: undefined, endpoint });
  onTestFinished(async () => {
    await server.close();
    await intake.stop();
    await model.close();
    await folder.dispose();
  });
  const file = join(folder.path, 'spans.jsonl');
  const place = program === 'opentelemetry-openai' ? '' : 'otel/agents';
  const [API, isStream] = mode.split(' ');
  const child = spawn(process.execPath, [join(import.meta.dirname, place, `${program}.ts`)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder.path,
      API,
      STREAM: isStream ?? '',
      MODEL_URL: model.url,
      OTLP_URL: `http://127.0.0.1:${server.port}`,
      SPANS_FILE: file,
      ...env,
    },
  });
  endWithTest(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  // The code of a process that closes.
  const [code] = (await once(child, 'close')) as [number | null];
  await intake.record(true);
  // A trace without an end is recorded after a pause.
  clock.advance(3_600);
  await intake.record();
  expect(faults).toEqual([]);
  const ids = (await listAll(store)).map(({ runId }) => runId);
  const runs = await Promise.all(ids.map((id) => readAll(store, id)));
  return { code, errors, runs, fromFile: existsSync(file) ? await runsOfFile(file) : undefined };
}

async function runsOfFile(file: string): Promise<readonly (readonly TrajectoryRecord[])[]> {
  const runs = new Map<string, TrajectoryRecord[]>();
  for await (const item of readRuns(importSource(file), { source: file })) {
    if (item.type === 'record') runs.set(item.run.id, [...(runs.get(item.run.id) ?? []), item.record]);
  }
  return [...runs.values()];
}

/** The facts of a run that do not depend on the seconds it took. */
function comparable(
  records: readonly TrajectoryRecord[],
): Facts & { readonly task: unknown; readonly tokens: unknown } {
  const view = new RunView({ detectors: defaultDetectors(), recompute: true });
  for (const record of records) view.fold(record);
  const facts = factsOf(records);
  const patterns = view.flaggedPatterns.map(({ kind, level, flaggedAt }) => [kind, level, flaggedAt]);
  return { ...facts, patterns, task: view.started?.task, tokens: view.usage.tokens };
}

type CallFacts = readonly [name: string, args: unknown, result: string, isError: boolean];

/** The same scene, recorded by the adapter of the OpenAI SDK. */
async function recordedByAdapter(): Promise<ReturnType<typeof comparable>> {
  const store = memoryStore();
  const cox = createCoxswain({ store, feedback: [], guidance: [] });
  const run = cox.startRun({ task: PROMPT });
  const tools = Object.fromEntries(
    ['read', 'bash'].map((name) => [name, (args: Json) => runTool(name, args as ToolArguments)]),
  );
  await loopHarness.run({ prompt: PROMPT, script: { turns: TURNS }, tools, run });
  await cox.flush();
  const { calls, ...facts } = comparable(await readAll(store, run.id));
  // The adapter records the error of a tool, and spans contain the text that the loop gives to the model.
  const seen = calls.map((call) => {
    const [name, args, result, isError] = call as CallFacts;
    return [name, args, isError ? `Error: ${result}` : result, isError];
  });
  return { ...facts, calls: seen };
}

/** A failed call of which only the class of the tool and its error are known. */
function classOnly(call: unknown): unknown {
  const [, args, result, isError] = call as CallFacts;
  return isError ? ['DynamicStructuredTool', args, result.replace('Error: ', ''), true] : call;
}

/** Calls that begin in the same millisecond and are not named by an answer have no order. */
function inAnyOrder(calls: readonly unknown[]): readonly string[] {
  return calls.map((call) => JSON.stringify(call)).toSorted();
}

/** The calls in the order in which the package reports them, as far as it has one. */
function orderOf({ namesClasses }: Package): (calls: readonly unknown[]) => readonly unknown[] {
  return namesClasses === true ? inAnyOrder : (calls) => calls;
}

const answers: ModelFunction = (_request, index) => TURNS[index] ?? { text: 'The script has ended.' };
const cases = PACKAGES.flatMap((one) => MODES.map((mode) => ({ program: one.program, one, mode })));

test.each(cases)(
  'a run with $program, $mode, has the calls, results, failures, turns and patterns of the adapter',
  async ({ one, mode }) => {
    const expected = await recordedByAdapter();
    const { code, errors, runs, fromFile } = await play(one.program, mode, answers);
    expect([code, errors, runs.length]).toEqual([0, '', 1]);
    const [records = []] = runs;
    const found = comparable(records);
    const order = orderOf(one);
    expect(order(found.calls)).toEqual(
      order(one.namesClasses === true ? expected.calls.map(classOnly) : expected.calls),
    );
    expect([found.turns, found.patterns]).toEqual([expected.turns, expected.patterns]);
    const isEstimate = one.wrongTokens?.includes(mode) === true;
    expect([found.task, isEstimate ? expected.tokens : found.tokens]).toEqual([PROMPT, expected.tokens]);
    const payloads = records.map(({ payload }) => payload);
    const users = payloads.filter((payload) => payload.kind === 'message_appended' && payload.message.role === 'user');
    expect(users).toHaveLength(1);
    expect(payloads[0]).toMatchObject({ identity: one.agent === undefined ? {} : { agent_name: agent } });
    expect(payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
    expect((fromFile ?? [records]).map(comparable)).toEqual([found]);
  },
);

test.each(PACKAGES)('a run with $program whose third request fails has its calls and its end', async (one) => {
  const expected = (await recordedByAdapter()).calls.slice(0, 3);
  const failing: ModelFunction = (request, index) =>
    index === 2 ? { error: { status: 500, message: 'overloaded' } } : answers(request, index);
  const { code, runs } = await play(one.program, 'chat', failing);
  expect([code, runs.length]).toEqual([1, 1]);
  const [records = []] = runs;
  const order = orderOf(one);
  const withoutResult = (calls: readonly unknown[]): unknown =>
    order(calls.map((call) => (call as unknown[]).slice(0, 2)));
  const { calls } = comparable(records);
  expect(order(calls.slice(0, 2))).toEqual(order(expected.slice(0, 2)));
  expect(withoutResult(calls)).toEqual(withoutResult(one.namesClasses === true ? expected.map(classOnly) : expected));
  const last = records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : [])).at(-1);
  expect(last).toMatchObject(one.losesLastResult === true ? { result_missing: true } : { is_error: true });
  const end = records.find(({ payload }) => payload.kind === 'run_ended')?.payload;
  expect(end?.kind === 'run_ended' ? end.outcome : undefined).toBe(one.leavesOpen === true ? undefined : 'error');
});

test('a process that is killed leaves the run up to the spans that had ended, without an end', async () => {
  const { runs } = await play('openinference-core', 'chat', answers, { KILLED_AT: 'call_3_1' });
  expect(runs).toHaveLength(1);
  const [records = []] = runs;
  const { calls, turns } = comparable(records);
  expect(turns).toBe(3);
  const whole = (await recordedByAdapter()).calls;
  expect(calls.slice(0, 3)).toEqual(whole.slice(0, 3));
  expect(calls[3]).toEqual(['bash', { command: 'npm test' }, null, false]);
  const payloads = records.map(({ payload }) => payload);
  expect(payloads.findLast(({ kind }) => kind === 'tool_ended')).toMatchObject({ result_missing: true });
  expect(payloads.some(({ kind }) => kind === 'run_ended')).toBe(false);
});
