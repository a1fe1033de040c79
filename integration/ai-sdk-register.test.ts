import { spawn } from 'node:child_process';
import { tracingChannel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { generateText, streamText } from 'ai';
import { expect, onTestFinished, test } from 'vitest';

import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { payloadsOf } from '../test/support/adapter-contract/adapter-player.ts';
import { listAll, readAll } from '../test/support/script-records.ts';
import { tempFolder } from '../test/support/temp-folder.ts';
import { scriptedAiModel } from './scripted-ai-model.ts';

/** An app that knows nothing of coxswain: a loop, streamed, with a loop within a tool, and a tool that fails. */
const APP = `
import { generateText, streamText, tool, isStepCount, jsonSchema } from 'ai';
import { MockLanguageModelV4, mockValues } from 'ai/test';
const usage = { inputTokens: { total: 7 }, outputTokens: { total: 3, reasoning: 1 } };
const asks = (toolName) => ({
  content: [{ type: 'tool-call', toolCallId: toolName, toolName, input: '{}' }],
  finishReason: { unified: 'tool-calls' }, usage, warnings: [],
});
const says = (text) => ({ content: [{ type: 'text', text }], finishReason: { unified: 'stop' }, usage, warnings: [] });
const streamOf = ({ content, finishReason }) => new ReadableStream({
  start(out) {
    for (const part of content) {
      if (part.type !== 'text') out.enqueue(part);
      else for (const type of ['text-start', 'text-delta', 'text-end']) out.enqueue({ type, id: 't', delta: part.text });
    }
    out.enqueue({ type: 'finish', finishReason, usage });
    out.close();
  },
});
const modelOf = (...answers) => {
  const next = mockValues(...answers);
  return new MockLanguageModelV4({ doGenerate: async () => next(), doStream: async () => ({ stream: streamOf(next()) }) });
};
const inputSchema = jsonSchema({ type: 'object' });
const stopWhen = isStepCount(5);
const boom = tool({ inputSchema, execute: async () => { throw new Error('bang'); } });
const inner = { model: modelOf(asks('boom'), says('no luck')), tools: { boom }, prompt: 'Dig.', stopWhen };
const dig = tool({ inputSchema, execute: async () => (await generateText(inner)).text });
const streamed = streamText({ model: modelOf(asks('dig'), says('Done.')), tools: { dig }, instructions: 'Be kind.', prompt: 'Go.', stopWhen });
console.log(await streamed.text);
`;

test('--import coxswain/ai-sdk/register records an app that is not changed, with its child runs, and the app prints the same', async () => {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const path = join(folder.path, 'runs.db');
  const cwd = fileURLToPath(new URL('../examples', import.meta.url));
  const env = { PATH: process.env['PATH'], HOME: folder.path, NO_COLOR: '1', COXSWAIN_STORE: path };
  const flags = ['--import', 'coxswain/ai-sdk/register', '--input-type=module', '--eval', APP];
  const child = spawn(process.execPath, flags, { cwd, env });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = await once(child, 'close');
  expect({ code, out, err }).toEqual({ code: 0, out: 'Done.\n', err: '' });
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  const runs = await listAll(store);
  expect(runs.length).toBe(2);
  const [own, below] = await Promise.all(
    [0, 1].map(async (depth) => await readAll(store, runs.find((run) => run.depth === depth)?.runId ?? '')),
  );
  const callsIn = (records = own ?? []): readonly unknown[] =>
    payloadsOf(records, 'tool_ended').map((call) => [call.tool_name, call.result, call.is_error]);
  expect([callsIn(), callsIn(below ?? [])]).toEqual([[['dig', 'no luck', false]], [['boom', 'bang', true]]]);
  for (const records of [own ?? [], below ?? []]) {
    expect(payloadsOf(records, 'turn_started').length).toBe(2);
    expect(payloadsOf(records, 'provider_request_prepared').length).toBe(2);
    expect(payloadsOf(records, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
    expect(payloadsOf(records, 'fault_noticed')).toEqual([]);
  }
  const usage = payloadsOf(own ?? [], 'message_appended').flatMap(({ message }) =>
    message.role === 'assistant' ? [message.usage] : [],
  );
  expect(usage[0]).toMatchObject({ input_tokens: 7, output_tokens: 3, reasoning_tokens: 1 });
});

test('the channel ai:telemetry has the answer of a model, but not of one that streams: so the list of integrations is used', async () => {
  const { asyncEnd } = tracingChannel('ai:telemetry');
  const seen: string[] = [];
  const listen = (message: unknown): unknown => seen.push(inspect(message, { depth: 12 }));
  asyncEnd.subscribe(listen);
  onTestFinished(() => asyncEnd.unsubscribe(listen));
  const settings = (): { model: ReturnType<typeof scriptedAiModel>['model']; prompt: string } => ({
    model: scriptedAiModel({ script: { turns: [{ text: 'The answer is blue.' }] } }).model,
    prompt: 'Which?',
  });
  const hasAnswer = (): boolean => seen.splice(0).some((message) => message.includes('The answer is blue.'));
  await generateText(settings());
  expect(hasAnswer()).toBe(true);
  expect(await streamText(settings()).text).toBe('The answer is blue.');
  expect(seen.length).toBeGreaterThan(0);
  expect(hasAnswer()).toBe(false);
});
