import { expect, test } from 'vitest';

import { createCoxswain } from '../../core/run/coxswain.ts';
import type { Run } from '../../core/run/run.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { scriptRun } from '../../../test/support/script-records.ts';
import { RunNotifications, type RunNotificationsOptions } from './run-notifications.ts';

const MINUTE_MS = 60_000;

/** The events notified for the runs that `make` starts. */
async function newsOf(
  make: (parts: { start: ReturnType<typeof createCoxswain>['startRun']; wait: (ms: number) => void }) => Promise<void>,
  options?: RunNotificationsOptions,
): Promise<readonly string[]> {
  const clock = createFakeClock();
  const cox = createCoxswain({ store: memoryStore(), clock });
  const records: TrajectoryRecord[] = [];
  cox.listen({ record: (record) => records.push(record) });
  await make({ start: (given) => cox.startRun(given), wait: (ms) => clock.advance(ms) });
  await cox.close();
  const notifications = new RunNotifications(options);
  return records.flatMap((record) => notifications.take(record, record.run_id ?? '')).map(({ event }) => event);
}

function call(run: Run, id: string): void {
  run.emit({ type: 'tool_execution_start', toolCallId: id, toolName: 'bash', args: { command: 'make' } });
  const result = 'make: *** No rule to make target. Stop.';
  run.emit({ type: 'tool_execution_end', toolCallId: id, toolName: 'bash', result, isError: true });
}

test('a run that was broken off or had no success failed, any other one ended', async () => {
  const endingWith = async (outcome: string, success?: boolean): Promise<readonly string[]> =>
    newsOf(async ({ start }) => {
      start().emit({ type: 'agent_end', messages: [], outcome, ...(success === undefined ? {} : { success }) });
    });
  expect(await endingWith('ended')).toEqual(['ended']);
  expect(await endingWith('ended', false)).toEqual(['failed']);
  expect(await endingWith('error')).toEqual(['failed']);
  expect(await endingWith('limit', true)).toEqual(['ended']);
});

test('an end says that the last result of a check is a failure, unless it passed later', async () => {
  const said = async (failures: readonly boolean[], isBelow = false): Promise<string | undefined> => {
    const cox = createCoxswain({ store: memoryStore(), clock: createFakeClock() });
    const runs = new RunNotifications();
    const told: string[] = [];
    cox.listen({
      record: (record) => told.push(...runs.take(record, record.run_id ?? '').map(({ message }) => message)),
    });
    const run = cox.startRun({ runId: 'r' });
    const worker = isBelow ? run.child({ runId: 'r/a' }) : run;
    for (const [at, isError] of failures.entries()) {
      const [toolCallId, toolName] = [`c${at}`, 'bash'];
      worker.emit({ type: 'tool_execution_start', toolCallId, toolName, args: { command: 'npm test' } });
      const result = isError ? '1 failed, 2 passed' : '3 passed';
      worker.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError });
    }
    await run.end();
    await cox.close();
    return told.at(-1);
  };
  expect(await said([false, true])).toBe('Run r ended: finished, but "npm test" failed and did not pass later');
  expect(await said([true, false])).toBe('Run r ended: finished');
  expect(await said([false, true], true)).toBe(
    'Run r ended: finished, but "npm test" failed in a subagent and did not pass later',
  );
  expect(await said([true, false], true)).toBe('Run r ended: finished');
});

test('the end of a subagent is no news', async () => {
  const news = await newsOf(async ({ start }) => {
    const run = start();
    await run.child().end('error');
    await run.end();
  });
  expect(news).toEqual(['ended']);
});

test('a run over its deadline is news once, whether the run has one or the reader gives it', async () => {
  const work = async (run: Run, wait: (ms: number) => void): Promise<void> => {
    for (const id of ['a', 'b', 'c']) {
      wait(4 * MINUTE_MS);
      call(run, id);
    }
    await run.end();
  };
  const own = await newsOf(async ({ start, wait }) => work(start({ deadline: { minutes: 5 } }), wait));
  const limited = await newsOf(async ({ start, wait }) => work(start(), wait), { deadline: { minutes: 5 } });
  expect([own, limited].map((news) => news.filter((event) => event === 'deadline'))).toEqual([
    ['deadline'],
    ['deadline'],
  ]);
});

test('a budget that is used up is news once, also when a subagent used it', async () => {
  const spent = await newsOf(async ({ start }) => {
    const run = start({ budget: { calls: 3 } });
    call(run, 'a');
    const child = run.child();
    call(child, 'b');
    call(child, 'c');
    await child.end();
    call(run, 'd');
    await run.end();
  });
  expect(spent.filter((event) => event === 'budget')).toEqual(['budget']);
});

test('a stuck run is news, and going on counts only after advice that reached the agent', async () => {
  const work = async (isHeard: boolean): Promise<readonly string[]> =>
    newsOf(async ({ start }) => {
      const run = start();
      for (let at = 0; at < 12; at += 1) {
        call(run, `c${at}`);
        // Without `delivered`, the advice reaches nobody.
        const handles = run.advise('post_tool_result');
        if (isHeard) for (const handle of handles) handle.delivered('host');
      }
      await run.end();
    });
  expect(await work(false)).toContain('stuck');
  expect(await work(false)).not.toContain('continued');
  expect(await work(true)).toContain('continued');
});

test('a full context is news once until a compaction, of a session and not of its subagents', async () => {
  const full = (depth: number): readonly string[] => {
    const runs = new RunNotifications();
    const answer = {
      kind: 'message_appended',
      message: { role: 'assistant', content: 'x', model_id: 'claude-opus-4-5', usage: { input_tokens: 160_000 } },
    } as const;
    const compaction = { kind: 'compaction', trigger: 'auto' } as const;
    const payloads = [answer, answer, compaction, answer];
    return payloads.flatMap((payload, seq) => {
      const record = { schema_version: 1, run_id: 'r', depth, seq, recorded_at_unix_ms: MINUTE_MS, payload } as const;
      return runs.take(record, 'r').map(({ event }) => event);
    });
  };
  expect([full(0), full(1)]).toEqual([['context', 'context'], []]);
});

test('a limit of the provider is news from 90 % on, with the time at which it resets', () => {
  const told = (used_percent: number, depth = 0): readonly string[] => {
    const data = { used_percent, window_minutes: 300, resets_at_unix_ms: new Date(2026, 5, 18, 3, 14).getTime() };
    const payload = { kind: 'session_event', event_type: 'limit_used', data } as const;
    const atMs = new Date(2026, 5, 18, 1, 0).getTime();
    const record = { schema_version: 1, run_id: 'r', depth, seq: 0, recorded_at_unix_ms: atMs, payload } as const;
    return new RunNotifications().take(record, 'r').map(({ event, message }) => `${event}: ${message}`);
  };
  expect([told(89), told(95, 1)]).toEqual([[], []]);
  expect(told(92.4)).toEqual(['limit: Run r has used 92 % of a limit of 5.0 hours, which resets at 03:14']);
});

test('a session that spends too much or starts too many subagents within ten minutes is told once, and a slower one is not told', async () => {
  const eventsOf = (minutesApart: number): readonly string[] => {
    const runs = new RunNotifications();
    let seq = 0;
    const take = (run: string, payload: TrajectoryRecord['payload'], atMs: number): readonly string[] => {
      const place = run === 'r' ? { depth: 0 } : { depth: 1, parent_run_id: 'r' };
      const record = {
        schema_version: 1,
        run_id: run,
        seq: (seq += 1),
        recorded_at_unix_ms: atMs,
        payload,
        ...place,
      } as const;
      return runs.take(record, run).map(({ message }) => message);
    };
    const begin = (run: string): TrajectoryRecord['payload'] => ({
      kind: 'run_started',
      identity: { run_id: run, depth: 0 },
    });
    const told = [...take('r', begin('r'), MINUTE_MS)];
    for (let at = 1; at <= 24; at += 1)
      told.push(...take(`c${at}`, begin(`c${at}`), MINUTE_MS * (1 + at * minutesApart)));
    return told;
  };
  expect(eventsOf(0.1)).toEqual(['Run r has started 20 subagents in 10 minutes']);
  expect(eventsOf(1)).toEqual([]);
});

const AT_MS = Date.UTC(2026, 10, 28, 2);

/** The notifications of a run with these records, a second apart. */
function toldOf(...payloads: readonly TrajectoryPayload[]): {
  readonly notices: RunNotifications;
  readonly take: (payload: TrajectoryPayload) => readonly string[];
} {
  const notices = new RunNotifications();
  const written: TrajectoryPayload[] = [];
  const take = (payload: TrajectoryPayload): readonly string[] => {
    written.push(payload);
    const record = scriptRun('r', written).at(-1);
    if (record === undefined) return [];
    const at = Object.assign(record, { recorded_at_unix_ms: AT_MS + written.length * 1_000 });
    return notices.take(at, 'r').map(({ message }) => message);
  };
  for (const payload of payloads) take(payload);
  return { notices, take };
}

const says = (content: string): TrajectoryPayload => ({
  kind: 'message_appended',
  message: { role: 'assistant', content, stop_reason: 'end_turn' },
});
const starts: TrajectoryPayload = {
  kind: 'tool_started',
  tool_call_id: 'c',
  tool_name: 'Bash',
  args: { command: 'git push' },
};
const ends: TrajectoryPayload = { kind: 'run_ended', outcome: 'ended', new_messages: [] };
const answers: TrajectoryPayload = { ...ends, reason: 'answered' };
const killed: TrajectoryPayload = { ...ends, outcome: 'aborted', reason: 'killed' };

test('an end says what the agent asks, and that its work was refused', () => {
  expect(toldOf(says('All pass. Want me to push?')).take(answers)).toEqual(['Run r ended and asks: Want me to push?']);
  const refused: TrajectoryPayload = {
    kind: 'tool_ended',
    tool_call_id: 'c',
    tool_name: 'Bash',
    result: 'no',
    is_error: true,
    outcome: 'refused',
  };
  expect(toldOf(starts, refused, says('I could not push.')).take(answers)).toEqual(['Run r ended: refused: git push']);
  expect(toldOf(says('Done.')).take(answers)).toEqual(['Run r ended: answered']);
});

test('a session that is ended from outside is told once, with what ran', () => {
  const { notices, take } = toldOf(starts);
  expect(take(ends)).toEqual(['Run r was cut off with "git push" unfinished']);
  expect(notices.brokenOff('r', 'was cut off: its process ended', AT_MS)).toBeUndefined();
  const gone = toldOf(starts);
  const told = gone.notices.brokenOff('r', 'was cut off: its process ended', AT_MS);
  expect(told?.message).toMatch(/^Run r was cut off: its process ended, since/);
  expect(gone.take(killed)).toEqual([]);
  expect(toldOf(starts).take(killed)).toEqual(['Run r was cut off: its process ended with "git push" unfinished']);
  // It goes on, and ends again.
  expect(gone.take(says('Done.'))).toEqual([]);
  expect(gone.take(answers)).toEqual(['Run r ended: answered']);
});
