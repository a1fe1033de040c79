import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

import { scriptedAiModel } from './scripted-ai-model.ts';

const SRC = new URL('../src/', import.meta.url).href;

/** The first snippet of the SDK's documentation: the model is a name. Only the address of the gateway is another one. */
const APP = `
import { generateText, isStepCount, streamText, tool, jsonSchema } from 'ai';
import { coxswainAgent } from '${SRC}adapters/ai-sdk/index.ts';
import { createCoxswain } from '${SRC}core/run/coxswain.ts';
const { fetch } = globalThis;
globalThis.fetch = (url, init) => fetch(String(url).replace('https://ai-gateway.vercel.sh/v4/ai', process.env.GATEWAY), init);
const kinds = [];
const cox = createCoxswain({ feedback: [], guidance: [] });
cox.listen({ record: ({ payload }) => kinds.push(payload.kind) });
const run = cox.startRun();
const look = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 'quiet' });
const settings = { ...coxswainAgent(run).wrap({ model: 'openai/gpt-5', tools: { look } }), prompt: 'Go.', stopWhen: isStepCount(5) };
const texts = [(await generateText(settings)).text, await streamText(settings).text];
await run.end();
const count = (kind) => kinds.filter((one) => one === kind).length;
console.log(JSON.stringify({ texts, turns: count('turn_started'), calls: count('tool_ended'), faults: cox.health().faults }));
`;

test('a model that goes by its name is body through the gateway, whole and streamed, and its loop is on record', async () => {
  const turns = [{ calls: [{ name: 'look', args: {} }] }, { text: 'All is well.' }];
  const { model, requests } = scriptedAiModel({ script: { turns: [...turns, ...turns] } });
  const names: unknown[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      names.push(request.headers['ai-language-model-id']);
      const body = JSON.parse(await text(request));
      if (request.headers['ai-language-model-streaming'] !== 'true')
        return response.end(JSON.stringify(await model.doGenerate(body)));
      response.setHeader('content-type', 'text/event-stream');
      for await (const part of (await model.doStream(body)).stream) response.write(`data: ${JSON.stringify(part)}\n\n`);
      return response.end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // `address()` of a listening TCP server is no text.
  const { port } = server.address() as AddressInfo;
  const env = { PATH: process.env['PATH'], AI_GATEWAY_API_KEY: 'none', GATEWAY: `http://127.0.0.1:${port}` };
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const child = spawn(process.execPath, ['--input-type=module', '--eval', APP], { cwd, env });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect({ err, out: JSON.parse(out || 'null') }).toEqual({
    err: '',
    out: { texts: ['All is well.', 'All is well.'], turns: 4, calls: 2, faults: 0 },
  });
  expect([names.length, new Set(names), requests.length]).toEqual([4, new Set(['openai/gpt-5']), 4]);
});
