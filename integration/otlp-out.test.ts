import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { MockOtlpServer, normalizeTrace, type ReceivedSpan } from '@elastic/mockotlpserver';
import * as otel from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';

import { spanSink, traceSink } from '../src/formats/export/index.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { FAILING, PARALLEL } from '../test/support/adapter-contract/contract-scenes.ts';
import { jsonLines, runCli } from '../test/run-cli.ts';
import { tempFolder } from '../test/support/temp-folder.ts';
import { playAi } from './ai-scene.ts';
import { contextManager } from './context-manager.ts';

/** The same failing call four times, then one that works. */
const BOOM = { calls: [{ name: 'boom', args: {} }] };
const STUCK = {
  ...FAILING,
  script: { turns: [BOOM, BOOM, BOOM, BOOM, { calls: [{ name: 'look', args: {} }] }, { text: 'Enough.' }] },
};

/** Spans that a third-party receiver decoded since the last call, by id, and the number of requests. */
interface Received {
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly unknown[];
}

/** Protobuf leaves out lists that are empty, counts of nothing, and a status that is not set. */
function withoutDefaults({ attributes, events = [], status, ...span }: ReceivedSpan): ReceivedSpan {
  const { endTimeUnixNano, flags, kind, name, parentSpanId, spanId, startTimeUnixNano, traceId } = span;
  const identity = { traceId, spanId, parentSpanId, name, kind, flags, startTimeUnixNano, endTimeUnixNano };
  const happened = events.map(({ attributes: said, name: what, timeUnixNano }) => ({ what, timeUnixNano, said }));
  const { code = 'STATUS_CODE_UNSET', message = '' } = status ?? {};
  return { ...identity, attributes, events: happened, status: { code, message } };
}

async function collector(): Promise<{ readonly url: string; readonly received: () => Received }> {
  const requests: unknown[] = [];
  const where = { services: ['http'], httpHostname: '127.0.0.1', httpPort: 0, logLevel: 'fatal' };
  const server = new MockOtlpServer({ ...where, onTrace: (request: unknown) => requests.push(request) });
  await server.start();
  onTestFinished(() => server.close());
  return {
    url: `${server.httpUrl.origin}/v1/traces`,
    received: () => {
      const batch = requests.splice(0);
      const spans = batch
        .flatMap((request) => normalizeTrace(request).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      const sorted = spans.toSorted((one, other) => (one.spanId < other.spanId ? -1 : 1));
      return { requests: batch, spans: sorted.map(withoutDefaults) };
    },
  };
}

test('a run of ai 7 reaches a third-party receiver live in protobuf, and from its store in JSON, as the same spans', async () => {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const { received, url } = await collector();
  const store = sqliteStore(join(folder.path, 'runs.db'));
  const cox = createCoxswain({ store });
  const live = spanSink(new ProtobufExporter({ url }));
  cox.listen(live);
  await playAi({ ...PARALLEL, run: cox.startRun({ runId: 'parallel' }) });
  await playAi({ ...STUCK, run: cox.startRun({ runId: 'stuck' }) });
  await cox.flush();
  await live.close();
  expect(live.health()).toMatchObject({ dropped: 0, waiting: 0 });
  const inProtobuf = received().spans;
  expect(new Set(inProtobuf.map(({ name }) => name.replace(/ .*/, '')))).toEqual(
    new Set(['invoke_agent', 'chat', 'execute_tool']),
  );

  const again = spanSink(new JsonExporter({ url }));
  for (const runId of ['parallel', 'stuck']) for await (const record of store.readRun(runId)) again.record(record);
  await again.close();
  expect(received().spans).toEqual(inProtobuf);

  await cox.close();
  const exported = ['export', '--store', 'runs.db', '--format', 'otlp', '--to', url];
  expect((await runCli(exported, { cwd: folder.path })).code).toBe(0);
  const ours = received();
  expect(ours.spans).toEqual(inProtobuf);

  // Reading the received spans gives the runs that the adapter recorded.
  await writeFile(join(folder.path, 'spans.jsonl'), ours.requests.map((one) => `${JSON.stringify(one)}\n`).join(''));
  await runCli(['export', '--store', 'runs.db', '--to', 'records.jsonl'], { cwd: folder.path });
  const analysed = async (file: string): Promise<readonly unknown[]> => {
    const { stdout } = await runCli(['analyze', file, '--recompute', '--json'], { cwd: folder.path });
    const runs = jsonLines(stdout).map(({ calls, errors, patterns, turns }) => ({ calls, errors, patterns, turns }));
    return runs.toSorted((one, other) => Number(one.calls) - Number(other.calls));
  };
  const [parallel, stuck] = await analysed('spans.jsonl');
  expect([parallel, stuck]).toEqual(await analysed('records.jsonl'));
  expect(parallel).toEqual({ calls: 3, errors: 0, turns: 3, patterns: [] });
  expect(stuck).toMatchObject({ calls: 5, errors: 4, turns: 6, patterns: [{ stuck: true, tool: 'boom' }] });
});

test('runs join the trace of the process, below the span that is active, with new ids', async () => {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] });
  otel.trace.setGlobalTracerProvider(provider);
  otel.context.setGlobalContextManager(contextManager());
  onTestFinished(() => {
    otel.trace.disable();
    otel.context.disable();
    return provider.shutdown();
  });
  const cox = createCoxswain({});
  const sink = traceSink(otel);
  cox.listen(sink);
  const tracer = otel.trace.getTracer('app');
  await tracer.startActiveSpan('request', async (request) => {
    await playAi({ ...FAILING, run: cox.startRun({ agentName: 'scout' }) });
    await new Promise((resolve) => setImmediate(resolve));
    request.end();
  });
  sink.close();
  const spans = memory.getFinishedSpans();
  const named = (name: string): (typeof spans)[number] | undefined => spans.find((span) => span.name === name);
  const [request, agent, tool] = ['request', 'invoke_agent scout', 'execute_tool boom'].map(named);
  expect(agent?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  expect(tool?.parentSpanContext?.spanId).toBe(agent?.spanContext().spanId);
  expect(tool?.status.code).toBe(otel.SpanStatusCode.ERROR);
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
});
