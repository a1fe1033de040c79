/**
 * Two agents that export OpenTelemetry traces and contain no code of coxswain. `coxswain serve otlp` records their runs: one of the
 * Vercel AI SDK, and one of a Python program, whose spans are in `python-agent-spans.json`. Offline: the model is scripted.
 *
 *     npm install
 *     node opentelemetry.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { OpenTelemetry } from '@ai-sdk/otel';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { generateText, isStepCount, registerTelemetry, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { defaultDetectors, RunView } from 'coxswain';
import { projectStore } from 'coxswain/sqlite';
import { z } from 'zod';

// The same as `npx coxswain serve otlp` in a project, with any free port and without the token that exporters send otherwise.
const project = mkdtempSync(join(tmpdir(), 'coxswain-example-'));
// Runs are in the user's data folder; those of this example go with it.
process.env['XDG_DATA_HOME'] = project;
const program = fileURLToPath(new URL('cli/bin.js', import.meta.resolve('coxswain')));
const server = spawn(process.execPath, [program, 'serve', 'otlp', '--listen', '127.0.0.1:0', '--no-token'], {
  cwd: project,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [firstLine] = await once(createInterface({ input: server.stdout }), 'line');
const url = `${/http:\S+/.exec(String(firstLine))?.[0]}/v1/traces`;

// The agent with the AI SDK.
const provider = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
});
trace.setGlobalTracerProvider(provider);
registerTelemetry(new OpenTelemetry());

// For a real model, with a key in AI_GATEWAY_API_KEY: const model = gateway('anthropic/claude-sonnet-4.5');
const model = scriptedModel();
await generateText({
  model,
  tools: {
    read_log: tool({
      description: 'Reads the log of the deployment.',
      inputSchema: z.object({ lines: z.number() }),
      execute: async () => 'step 3 of 7: migrate the database',
    }),
  },
  prompt: 'Why did the deployment fail?',
  stopWhen: isStepCount(10),
});
await provider.shutdown();

// The agent in Python.
const spans = readFileSync(new URL('python-agent-spans.json', import.meta.url));
await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: spans });

// A server that stops records the complete traces. A running server records a trace 15 seconds after its last span.
server.kill('SIGTERM');
await once(server, 'close');

process.chdir(project);
const store = projectStore();
for (const { runId } of (await store.listRuns()).runs) {
  const view = new RunView({ detectors: defaultDetectors() });
  for await (const record of store.readRun(runId)) view.fold(record);
  const patterns = view.flaggedPatterns.map(({ kind, occurrences }) => `${kind} (${occurrences} times)`);
  console.log(`${view.started?.task}: ${view.counts.calls} calls, ${view.usage.tokens} tokens, ${patterns.join(', ')}`);
}
await store.close();
rmSync(project, { recursive: true });

/** Reads the log five times, then answers. */
function scriptedModel(): MockLanguageModelV4 {
  let calls = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      calls += 1;
      const isDone = calls > 5;
      return {
        content: isDone
          ? [{ type: 'text', text: 'The database never came up.' }]
          : [{ type: 'tool-call', toolCallId: `call_${calls}`, toolName: 'read_log', input: '{"lines":20}' }],
        finishReason: { unified: isDone ? 'stop' : 'tool-calls', raw: undefined },
        usage: {
          inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 20, text: 20, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
}

// Prints:
// Why did the deployment fail?: 5 calls, 720 tokens, identical_call (5 times)
// Which service is down?: 3 calls, 480 tokens, repeated_error (3 times)
