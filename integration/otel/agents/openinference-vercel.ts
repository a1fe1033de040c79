/** `@arizeai/openinference-vercel` with the AI SDK 7: its processor turns GenAI spans into those of OpenInference. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { OpenInferenceBatchSpanProcessor } from '@arizeai/openinference-vercel';
import { registerTelemetry } from 'ai';

import { aiAgent } from '../ai-agent.ts';
import { exporters, startTelemetry, work } from '../telemetry.ts';

const provider = startTelemetry(exporters().map((exporter) => new OpenInferenceBatchSpanProcessor({ exporter })));
registerTelemetry(new OpenTelemetry());
await work(provider, () => aiAgent(createOpenAI));
