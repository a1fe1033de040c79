import { OpenTelemetry } from '@ai-sdk/otel';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { generateText, isStepCount, jsonSchema, registerTelemetry, streamText, tool, type ModelMessage } from 'ai';
import { expect, onTestFinished, test } from 'vitest';

import { coxswainAgent } from '../src/adapters/ai-sdk/index.ts';
import { systemClock } from '../src/core/base/clock.ts';
import { importers } from '../src/formats/importers.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { OtlpEndpoint } from '../src/hosts/otlp/otlp-endpoint.ts';
import { OtlpIntake } from '../src/hosts/otlp/otlp-intake.ts';
import { startOtlpServer } from '../src/hosts/otlp/otlp-server.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { listAll, readAll } from '../test/support/script-records.ts';
import { tempFolder } from '../test/support/temp-folder.ts';
import { TURNS } from './otel/scene.ts';
import { factsOf, type Facts } from './run-facts.ts';
import { scriptedAiModel } from './scripted-ai-model.ts';

const inputSchema = jsonSchema<Readonly<Record<string, string>>>({ type: 'object' });
const TOOLS = {
  read: tool({ inputSchema, execute: ({ path }) => ({ path, lines: [`// ${path}`, 'export {}'] }) }),
  bash: tool({
    inputSchema,
    execute: ({ command }) => {
      if (command === 'npm test') throw new Error('1 test failed: sum adds');
      return `ran ${command}`;
    },
  }),
};

/** The messages of a run as an OpenAI client keeps them. */
function transcriptOf(messages: readonly ModelMessage[]): readonly object[] {
  return messages.flatMap((message): readonly object[] => {
    const parts =
      typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content;
    if (message.role !== 'tool') {
      const calls = parts.flatMap((part) =>
        part.type === 'tool-call'
          ? [
              {
                id: part.toolCallId,
                type: 'function',
                function: { name: part.toolName, arguments: JSON.stringify(part.input) },
              },
            ]
          : [],
      );
      const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      return [{ role: message.role, content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
    }
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-result' || !('value' in part.output)) return [];
      const { value } = part.output;
      return [
        {
          role: 'tool',
          tool_call_id: part.toolCallId,
          content: typeof value === 'string' ? value : JSON.stringify(value),
        },
      ];
    });
  });
}

async function recordsOf(transcript: readonly object[]): Promise<readonly TrajectoryRecord[]> {
  const importer = importers.find(({ format, shape }) => format === 'openai-chat' && shape === 'document');
  if (importer?.shape !== 'document') throw new Error('the importer of chat messages is not there');
  const items = importer.read({ messages: transcript }, { path: 'chat.json', name: 'chat.json' });
  const records: TrajectoryRecord[] = [];
  async function* given(): AsyncGenerator<
    Parameters<typeof readRuns>[0] extends AsyncIterable<infer Item> ? Item : never
  > {
    yield* items;
  }
  for await (const item of readRuns(given(), { source: 'chat' })) if (item.type === 'record') records.push(item.record);
  return records;
}

test.each(['generateText', 'streamText'] as const)(
  'a run of ai 7 with %s, recorded by the adapter, by OpenTelemetry in both encodings, and from its messages, has the same calls and patterns',
  async (entry) => {
    const folder = await tempFolder();
    const traced = memoryStore();
    const faults: string[] = [];
    const intake = new OtlpIntake({
      owner: { env: { HOME: folder.path }, projectFolder: folder.path },
      clock: systemClock,
      withTarget: (work) => work({ store: traced, redact: (payload) => payload }),
      onFault: ({ message }) => faults.push(message),
    });
    const endpoint = new OtlpEndpoint((found) => intake.take(found));
    const server = await startOtlpServer({ host: '127.0.0.1', port: 0, token: undefined, endpoint });
    const url = `http://127.0.0.1:${server.port}/v1/traces`;
    const provider = new TracerProvider({
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new ProtobufExporter({ url, compression: 'gzip' as never }),
          maxExportBatchSize: 4,
        }),
        new BatchSpanProcessor({ exporter: new JsonExporter({ url }), maxExportBatchSize: 3 }),
      ],
    });
    onTestFinished(async () => {
      trace.disable();
      await server.close();
      await intake.stop();
      await folder.dispose();
    });
    trace.setGlobalTracerProvider(provider);
    registerTelemetry(new OpenTelemetry());

    const adapted = memoryStore();
    const cox = createCoxswain({ store: adapted, feedback: [], guidance: [] });
    const run = cox.startRun();
    const { model } = scriptedAiModel({ script: { turns: TURNS } });
    const settings = {
      ...coxswainAgent(run).wrap({ model, tools: TOOLS }),
      prompt: 'Fix it.',
      stopWhen: isStepCount(20),
    };
    const result = entry === 'generateText' ? await generateText(settings) : streamText(settings);
    const messages = await result.responseMessages;
    expect(await result.text).toBe('I give up.');
    await run.end();
    await cox.flush();
    await provider.forceFlush();
    await provider.shutdown();
    await intake.record(true);

    const byAdapter = factsOf(await readAll(adapted, run.id));
    expect(byAdapter.calls).toHaveLength(7);
    expect(byAdapter.patterns.length).toBeGreaterThan(0);
    const runs = await listAll(traced);
    expect([runs.length, faults]).toEqual([1, []]);
    const records = await readAll(traced, runs[0]?.runId ?? '');
    expect(factsOf(records)).toEqual(byAdapter);
    expect(records.filter(({ payload }) => payload.kind === 'session_event')).toEqual([]);

    const chat = [{ role: 'user', content: 'Fix it.' }, ...transcriptOf(messages)];
    const fromChat = factsOf(await recordsOf(chat), false);
    const plain = (facts: Facts): unknown => ({
      ...facts,
      // Chat messages hold results as text.
      calls: facts.calls.map((call) => (call as readonly unknown[]).slice(0, 2)),
    });
    expect(plain(fromChat)).toEqual(plain(byAdapter));
  },
);
