import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { importLines } from '../../../test/support/import-check.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { kimiCodeImporter } from './kimi-code.ts';
import { kimiImporter } from './kimi.ts';

const metadata = { type: 'metadata', protocol_version: '1.5', created_at: 1 };
let time = 1_795_963_518_300;
const record = (type: string, more: object): object => ({ type, ...more, time: (time += 1_000) });
const message = (text: string, kind: string): object =>
  record('context.append_message', {
    message: { role: 'user', content: [{ type: 'text', text }], origin: { kind } },
  });
const event = (type: string, more: object): object => record('context.append_loop_event', { event: { type, ...more } });
const text = (answer: string, stepUuid = 's1'): object =>
  event('content.part', { stepUuid, part: { type: 'text', text: answer } });
const usage = record('usage.record', {
  model: 'kimi/k3',
  usage: { inputOther: 100, output: 20, inputCacheRead: 50, inputCacheCreation: 0 },
});

test('what hooks and the program add is not the user, and a refused call is refused', () => {
  const { diagnostics, runs } = importLines(kimiCodeImporter, [
    metadata,
    message('A hook says so.', 'hook_result'),
    message('Go.', 'user'),
    record('llm.request', { model: 'k3' }),
    event('step.begin', {}),
    event('tool.call', { stepUuid: 's1', toolCallId: 'c1', name: 'Bash', args: { command: 'rm x' } }),
    usage,
    record('permission.record_approval_result', { toolCallId: 'c1', result: { decision: 'rejected' } }),
    event('tool.result', { toolCallId: 'c1', result: { output: 'Rejected.', isError: true } }),
    event('step.end', {}),
    record('turn.cancel', {}),
    record('turn.ended', { reason: 'cancelled' }),
  ]);
  expect(diagnostics).toEqual([]);
  expect(runs[0]?.run.task).toBe('Go.');
  expect(runs[0]?.ends.map((end) => [end.is_error, end.outcome])).toEqual([[true, 'refused']]);
  expect(runs[0]?.payloads[3]).toMatchObject({
    message: { model_id: 'k3', usage: { input_tokens: 150, output_tokens: 20, cache_read_tokens: 50 } },
  });
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ outcome: 'aborted', reason: 'interrupted' });
});

test('a step that ends its turn is an answer, even if no end of the turn follows, and a further step means that the run goes on', () => {
  const begin = event('step.begin', {});
  const steps = [message('Go.', 'user'), begin, text('Done.'), event('step.end', { finishReason: 'end_turn' })];
  const endOf = (...more: readonly object[]): unknown =>
    importLines(kimiCodeImporter, [...steps, ...more]).runs[0]?.payloads.find(({ kind }) => kind === 'run_ended');
  expect(endOf()).toMatchObject({ outcome: 'ended', reason: 'answered' });
  expect(endOf(message('A hook says go on.', 'hook_result'), begin)).toBeUndefined();
});

test('the usage of a compaction is added to that of the answer before it', () => {
  const { runs } = importLines(kimiCodeImporter, [
    message('Go.', 'user'),
    text('Done.'),
    usage,
    record('full_compaction.begin', {}),
    { ...usage, usageScope: 'session' },
    record('context.apply_compaction', {}),
  ]);
  const answers = runs[0]?.payloads.flatMap((one) => (one.kind === 'message_appended' ? [one.message] : []));
  expect(answers?.[1]).toMatchObject({ usage: { input_tokens: 300, output_tokens: 40 } });
});

test('a fork has only its own records, and the file of a subagent names the session', async () => {
  const temp = await tempFolder();
  onTestFinished(() => temp.dispose());
  const folder = join(temp.path, 'session_2');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'state.json'), JSON.stringify({ forkedFrom: 'session_1' }));
  const read = (agent: string, lines: readonly object[]) => {
    const path = join(folder, 'agents', agent, 'wire.jsonl');
    const open = () => kimiCodeImporter.open({ path, name: 'wire.jsonl' });
    return importLines({ open }, lines);
  };
  const copied = [metadata, message('The old task.', 'user'), text('Old.')];
  const own = [record('forked', {}), message('The new task.', 'user'), text('New.', 's2')];
  const { diagnostics, runs } = read('main', [...copied, ...own]);
  expect(runs.map(({ run }) => [run.id, run.task])).toEqual([['session_2', 'The new task.']]);
  expect(diagnostics[0]?.message).toContain('copied');
  expect(read('main', copied).runs).toEqual([]);
  expect(read('agent-0', own).runs.map(({ run }) => [run.id, run.parentId])).toEqual([
    ['session_2/agent-0', 'session_2'],
  ]);
});

test('a file of Kimi CLI, which begins with the same line, is not taken for one of Kimi Code', () => {
  const source = { path: 'wire.jsonl', name: 'wire.jsonl' };
  const line = { timestamp: 1, message: { type: 'TurnBegin', payload: { user_input: 'hi' } } };
  expect(kimiCodeImporter.recognise([metadata, line], source)).toBe(0);
  expect(kimiImporter.recognise([metadata, message('hi', 'user')], source)).toBe(0);
  expect(kimiCodeImporter.recognise([metadata, message('hi', 'user')], source)).toBeGreaterThan(0.9);
});
