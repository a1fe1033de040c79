/** The ordinary OpenTelemetry setup of the agents: spans go to `OTLP_URL` in gzipped protobuf, and to the file `SPANS_FILE` as JSON. */
import { appendFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { SpanStatusCode } from '@opentelemetry/api';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';

const { OTLP_URL = '', SPANS_FILE = '' } = process.env;

/** Writes one request per line, as the collector's file exporter does. */
const fileExporter: SpanExporter = {
  export(spans: ReadableSpan[], done) {
    appendFileSync(
      SPANS_FILE,
      Buffer.concat([JsonTraceSerializer.serializeRequest(spans) ?? Buffer.of(), Buffer.from('\n')]),
    );
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};

export function exporters(): readonly SpanExporter[] {
  return [
    new OTLPTraceExporter({ url: `${OTLP_URL}/v1/traces`, compression: CompressionAlgorithm.GZIP }),
    fileExporter,
  ];
}

const startedProcessors: SpanProcessor[] = [];

/** A processor per exporter. Small batches separate the spans of one trace. */
function processors(): SpanProcessor[] {
  const processorList = exporters().map(
    (exporter) => new BatchSpanProcessor(exporter, { maxExportBatchSize: 4, scheduledDelayMillis: 50 }),
  );
  startedProcessors.push(...processorList);
  return processorList;
}

/** The processors as one, for an SDK that takes one. */
export function combined(): SpanProcessor {
  const all = processors();
  return {
    onStart: (span, context) => all.forEach((one) => one.onStart(span, context)),
    onEnd: (span) => all.forEach((one) => one.onEnd(span)),
    forceFlush: async () => void (await Promise.all(all.map((one) => one.forceFlush()))),
    shutdown: async () => void (await Promise.all(all.map((one) => one.shutdown()))),
  };
}

/** Registers the provider. Its spans are flushed by `work`. */
export function startTelemetry(spanProcessors: SpanProcessor[] = processors()): NodeTracerProvider {
  const provider = new NodeTracerProvider({ spanProcessors });
  provider.register();
  return provider;
}

/** Runs an agent and then flushes its spans, also if the agent fails. The agent's error ends the process with code 1. */
export async function work(provider: { forceFlush(): Promise<unknown> }, agent: () => Promise<unknown>): Promise<void> {
  try {
    await agent();
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  }
  // Some instrumentations end the last span after the answer has returned.
  await setImmediate();
  await provider.forceFlush();
  // Some SDKs do not pass the flush on.
  await Promise.all(startedProcessors.map((processor) => processor.forceFlush()));
}

/** Runs an agent within one span of the program, which gets the status of the agent. */
export async function withinSpan(provider: NodeTracerProvider, agent: () => Promise<unknown>): Promise<unknown> {
  return await provider.getTracer('program').startActiveSpan('work', async (span) => {
    try {
      return await agent();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}
