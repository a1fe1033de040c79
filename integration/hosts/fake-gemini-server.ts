import type { JsonObject } from '../../src/core/base/json.ts';
import {
  startFakeModelServer,
  type FakeModelServer,
  type FakeModelServerOptions,
  type ModelProtocol,
} from '../../src/testing/model-script.ts';

/** A fake of Gemini's API, as far as Gemini CLI asks it. Requests with tools are the agent's own. */
export async function startFakeGeminiServer(options: FakeModelServerOptions): Promise<FakeModelServer> {
  return await startFakeModelServer(geminiApi, options);
}

const geminiApi: ModelProtocol = {
  fixed: ({ method, path }) =>
    method === 'POST' && /:(?:stream)?[gG]enerateContent$/.test(path)
      ? undefined
      : { status: path.endsWith(':countTokens') ? 200 : 404, body: { totalTokens: 100 } },
  isMain: ({ tools }) => Array.isArray(tools) && tools.length > 0,
  sideText: '{}',
  answer({ path }, { calls, text, usage }) {
    const parts = [
      ...(text === undefined || text === '' ? [] : [{ text }]),
      ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
    ];
    const { inputTokens: promptTokenCount, outputTokens: candidatesTokenCount } = usage;
    const totalTokenCount = promptTokenCount + candidatesTokenCount;
    const body: JsonObject = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount, candidatesTokenCount, totalTokenCount },
    };
    return path.includes('stream')
      ? { kind: 'stream', events: [`data: ${JSON.stringify(body)}\n\n`] }
      : { kind: 'json', body };
  },
  fault: (code, message) => ({ error: { code, message, status: 'INTERNAL' } }),
};
