import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import type { RedactionOptions } from '../src/core/redact/redactor.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { diagnosticSignal } from '../src/core/steering/guidance/built-in-guidance.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { filesIn, sayEverywhere, survivorsIn, traces } from './support/canary.ts';
import { fakeSecrets } from './support/fake-secrets.ts';
import { tempFolder } from './support/temp-folder.ts';

const KEY = 'a key of the tests, long enough';
const steering = { ...standardSteering(), guidance: [{ provider: diagnosticSignal() }] };
const MODES: readonly RedactionOptions[] = [{}, { mode: 'structureOnly', key: KEY }];

const stores: readonly (readonly [string, (folder: string) => TrajectoryStore])[] = [
  ['sqlite', (folder) => sqliteStore(join(folder, 'runs.db'))],
];

test.each(stores.flatMap(([name, open]) => MODES.map((redaction) => [name, redaction, open] as const)))(
  'nothing of 60 kinds of secrets reaches a %s store, the session, the analysis or a snapshot (%j)',
  async (_name, redaction, open) => {
    const temp = await tempFolder();
    const folder = temp.path;
    try {
      const store = open(folder);
      const cox = createCoxswain({ ...steering, store, redaction, clock: createFakeClock() });
      const secrets = fakeSecrets();
      const task = secrets.map(({ text }) => text).join('\n');
      const run = cox.startRun({ runId: 'run', task, conversationId: secrets[0]?.text ?? '' });
      for (const [index, { text }] of secrets.entries()) sayEverywhere(run, text, index);
      const inMemory = JSON.stringify([run.snapshot(), run.session.snapshot(), run.analysis.patterns(), cox.health()]);
      await run.end();
      const records = await Array.fromAsync(store.readRun('run'));
      for (const fake of secrets) {
        const word = traces(fake)[0]?.match(/[a-z0-9]{8,}/)?.[0] ?? 'secret';
        expect((await store.search({ text: `"${word}"` })).hits).toEqual([]);
      }
      await cox.close();
      expect(records.length).toBeGreaterThan(secrets.length * 8);
      expect(survivorsIn(inMemory)).toEqual([]);
      expect(survivorsIn(JSON.stringify(records))).toEqual([]);
      expect(survivorsIn(filesIn(folder))).toEqual([]);
    } finally {
      await temp.dispose();
    }
  },
);

test('without redaction the same canary is found, so the test can fail', async () => {
  const store = memoryStore();
  const run = createCoxswain({ ...steering, store, redaction: false }).startRun({ runId: 'run' });
  for (const [index, { text }] of fakeSecrets().entries()) sayEverywhere(run, text, index);
  await run.end();
  const records = await Array.fromAsync(store.readRun('run'));
  expect(survivorsIn(JSON.stringify(records))).toHaveLength(fakeSecrets().length);
});

/** One call of a script: a tool, what it is given and what comes of it. */
interface Call {
  readonly tool: string;
  readonly args: string;
  readonly result: string;
  readonly fails: boolean;
}

async function recorded(calls: readonly Call[], redaction: RedactionOptions | false): Promise<TrajectoryRecord[]> {
  const store = memoryStore();
  const clock = createFakeClock();
  const cox = createCoxswain({ ...steering, clock, store, redaction });
  let run = cox.startRun({ runId: 'run', deadline: { minutes: 10 } });
  for (const [index, { tool, args, result, fails }] of calls.entries()) {
    // A restored run redacts like the one before it.
    if (index === 7) run = cox.restoreRun(run.snapshot());
    const toolCallId = `call-${index}`;
    clock.advance(5);
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: tool, args: { path: args } });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: tool, result, isError: fails });
    run.feedback();
  }
  await run.end();
  return Array.fromAsync(store.readRun('run'));
}

const texts = fc.constantFrom(
  'a',
  'ok',
  'Error: ETIMEDOUT at 12:01:02',
  'password=hunter2',
  'Permission denied',
  ...fakeSecrets()
    .slice(0, 12)
    .map(({ text }) => text),
);
const calls = fc.array(
  fc.record({
    tool: fc.constantFrom('bash', 'read_file', 'edit_file'),
    args: texts,
    result: texts,
    fails: fc.boolean(),
  }),
  { minLength: 8, maxLength: 40 },
);

test.each(MODES)('live equals replay with redaction %j', async (redaction) => {
  let derivedInAll = 0;
  await fc.assert(
    fc.asyncProperty(calls, async (script) => {
      const records = await recorded(script, redaction);
      const derived = records.map((record) => record.payload).filter(isDerived);
      derivedInAll += derived.length;
      const replay = new Replay({ steering });
      expect(records.flatMap((record) => replay.take(record))).toEqual(derived);
    }),
    { numRuns: 60 },
  );
  expect(derivedInAll).toBeGreaterThan(60);
});

function flagged(records: readonly TrajectoryRecord[]): readonly string[] {
  const kinds = records.flatMap(({ payload }) => (payload.kind === 'pattern_flagged' ? [payload.pattern.kind] : []));
  return [...new Set(kinds)].sort();
}

test.each([
  ['the same call and answer', { tool: 'read_file', args: 'src/a.ts', result: 'no such entry here', fails: false }],
  ['the same failure', { tool: 'deploy', args: 'api', result: 'connect ECONNREFUSED 10.0.0.1:80', fails: true }],
  [
    'a failure that nothing flags',
    { tool: 'deploy', args: 'api', result: 'Error: timed out after 30 s', fails: false },
  ],
])('%s is flagged alike with all content, without secrets, and without content', async (_name, call) => {
  const script = Array.from({ length: 10 }, () => call);
  const whole = flagged(await recorded(script, false));
  expect(whole).not.toEqual([]);
  for (const redaction of MODES) expect(flagged(await recorded(script, redaction))).toEqual(whole);
});
