/**
 * An agent with `@opentelemetry/instrumentation-openai`, for `otel-packages.test.ts`: below one span of the program. Messages are
 * log records. Tools are not traced. It is here because the instrumentation needs version 3 of OpenTelemetry's SDK.
 */
import { createRequire } from 'node:module';

import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

import type * as OpenAI6 from 'openai-6';

import { CLIENT, openaiLoop } from './otel/openai-loop.ts';
import { contextManager } from './context-manager.ts';
import * as otel from '@opentelemetry/api';

const { OTLP_URL = '' } = process.env;
otel.context.setGlobalContextManager(contextManager());
const spans = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${OTLP_URL}/v1/traces` }) })],
});
const logs = new LoggerProvider({
  processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${OTLP_URL}/v1/logs` }) })],
});
/** Makes the hooks of the package available, which it applies by itself only under the package's own name. */
class Instrumentation extends OpenAIInstrumentation {
  definitions(): ReturnType<OpenAIInstrumentation['init']> {
    return this.init();
  }
}

const instrumentation = new Instrumentation({ captureMessageContent: true });
instrumentation.setTracerProvider(spans);
instrumentation.setLoggerProvider(logs);
instrumentation.setMeterProvider(otel.metrics.getMeterProvider());
const openai: typeof OpenAI6 = createRequire(import.meta.url)('openai-6');
const [definition] = instrumentation.definitions();
definition?.patch?.(openai);
const { OpenAI } = openai;
const span = spans.getTracer('program').startSpan('work');
await otel.context
  .with(otel.trace.setSpan(otel.context.active(), span), () => openaiLoop(new OpenAI(CLIENT)))
  .catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    span.setStatus({ code: otel.SpanStatusCode.ERROR });
    process.exitCode = 1;
  });
span.end();
await spans.forceFlush();
await logs.forceFlush();
