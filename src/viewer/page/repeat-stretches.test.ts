import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { scriptRun } from '../../testing/record-script.ts';
import { RecordPages } from './record-pages.ts';
import { repeatStretches, type RepeatStretch } from './repeat-stretches.ts';

interface Scene {
  readonly command: string;
  readonly failure?: string;
  readonly result?: string;
  readonly before?: TrajectoryPayload;
}

/** The call at position n starts at `seq` 3 n + 1. */
async function stretchesOf(scenes: readonly Scene[]): Promise<readonly RepeatStretch[]> {
  const payloads = scenes.flatMap(({ before, command, failure, result }, at): readonly TrajectoryPayload[] => [
    before ?? { kind: 'turn_ended', assistant: { role: 'assistant', content: 'Again.' }, tool_results: [] },
    { kind: 'tool_started', tool_call_id: `c${at}`, tool_name: 'bash', args: { command } },
    {
      kind: 'tool_ended',
      tool_call_id: `c${at}`,
      tool_name: 'bash',
      result: result ?? failure ?? 'done',
      is_error: failure !== undefined,
    },
  ]);
  const records = scriptRun('run', payloads);
  const lastSeq = records.length - 1;
  const load = async () => ({ records, nextSeq: records.length, lastSeq });
  const pages = new RecordPages(lastSeq, load, () => {});
  await pages.ensure(0);
  const at = (seq: number) => {
    const failure = scenes[(seq - 1) / 3]?.failure;
    return { call: (seq + 2) / 3, seq, kind: 'execute' as const, ...(failure === undefined ? {} : { failure }) };
  };
  return repeatStretches(records, pages, { at });
}

const MISSING = 'bash: line #: command not found';

test('calls with other arguments that fail with the same line are one series', async () => {
  const scenes = ['ls', 'find .', 'find /'].map((command, at) => ({
    command,
    failure: MISSING,
    result: `${at}: ${MISSING}`,
  }));
  expect(await stretchesOf([{ command: 'pwd' }, ...scenes, { command: 'pwd' }])).toEqual([
    { calls: [4, 7, 10], failure: MISSING, messages: 2 },
  ]);
});

test('equal calls are a series without a failure, also if they fail; the longer series counts', async () => {
  const equal = Array.from({ length: 3 }, () => ({ command: 'ls', failure: MISSING }));
  expect(await stretchesOf(equal)).toEqual([{ calls: [1, 4, 7], messages: 2 }]);
  expect(await stretchesOf([...equal, { command: 'find .', failure: MISSING }])).toEqual([
    { calls: [1, 4, 7, 10], failure: MISSING, messages: 3 },
  ]);
});

test('another failure, a success and a message of the user end a series', async () => {
  const fails = (command: string, failure = MISSING): Scene => ({ command, failure });
  const user: TrajectoryPayload = { kind: 'message_appended', message: { role: 'user', content: 'Stop.' } };
  expect(await stretchesOf([fails('a'), fails('b'), fails('c', 'other'), fails('d')])).toEqual([]);
  expect(await stretchesOf([fails('a'), fails('b'), { command: 'c' }, fails('d')])).toEqual([]);
  expect(await stretchesOf([fails('a'), fails('b'), { ...fails('c'), before: user }])).toEqual([]);
});
