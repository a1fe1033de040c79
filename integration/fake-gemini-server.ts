import type { JsonObject } from '../src/core/base/json.ts';
import {
  pieces,
  startFakeModelServer,
  type FakeModelServer,
  type FakeModelServerOptions,
  type ModelProtocol,
} from '../src/testing/model-script.ts';

/**
 * A fake of Gemini's API. Requests with tools are the agent's own.
 *
 * @param hasIds  true if calls have ids, as those of newer models; Gemini CLI makes its own
 */
export async function startFakeGeminiServer(options: FakeModelServerOptions, hasIds = false): Promise<FakeModelServer> {
  return await startFakeModelServer(geminiApi(hasIds), options);
}

const FINISH_REASONS = { stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS' } as const;

function geminiApi(hasIds: boolean): ModelProtocol {
  return {
    fixed: ({ method, path }) =>
      method === 'POST' && /:(?:stream)?[gG]enerateContent$/.test(path)
        ? undefined
        : { status: path.endsWith(':countTokens') ? 200 : 404, body: { totalTokens: 100 } },
    isMain: ({ tools }) => Array.isArray(tools) && tools.length > 0,
    sideText: '{}',
    answer({ path }, { calls, finish, fromTheFuture, text, usage }) {
      const future: JsonObject = fromTheFuture ? { future_field: { since: 'tomorrow' } } : {};
      const parts = [
        ...(fromTheFuture ? [{ futurePart: { future_field: 1 } }] : []),
        ...(text === undefined || text === '' ? [] : [{ text, ...future }]),
        ...calls.map(({ args, id, name }) => ({ functionCall: { ...(hasIds ? { id } : {}), name, args, ...future } })),
      ];
      const usageMetadata = {
        promptTokenCount: usage.inputTokens,
        candidatesTokenCount: usage.outputTokens,
        totalTokenCount: usage.inputTokens + usage.outputTokens,
        ...(usage.cacheReadTokens > 0 ? { cachedContentTokenCount: usage.cacheReadTokens } : {}),
      };
      const chunk = (some: readonly JsonObject[], end: JsonObject): JsonObject => ({
        candidates: [{ content: { role: 'model', parts: some }, index: 0, ...end }],
        modelVersion: /models\/([^/:]+)/.exec(path)?.[1] ?? 'gemini',
        ...future,
      });
      const whole = chunk(parts, { finishReason: FINISH_REASONS[finish] });
      if (!path.includes('stream')) return { kind: 'json', body: { ...whole, usageMetadata } };
      const texts = text === undefined ? [] : pieces(text).map((piece) => chunk([{ text: piece }], {}));
      const rest = parts.filter((part) => !('text' in part));
      const last = { ...chunk(rest, { finishReason: FINISH_REASONS[finish] }), usageMetadata };
      return { kind: 'stream', events: [...texts, last].map((one) => `data: ${JSON.stringify(one)}\n\n`) };
    },
    fault: (code, message) => ({ error: { code, message, status: 'INTERNAL' } }),
  };
}
