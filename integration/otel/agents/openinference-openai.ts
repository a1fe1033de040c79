/** `@arizeai/openinference-instrumentation-openai` below one span of the program. Tools are not traced. */
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import OpenAI from 'openai';

import { CLIENT, openaiLoop } from '../openai-loop.ts';
import { startTelemetry, withinSpan, work } from '../telemetry.ts';

const provider = startTelemetry();
const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(OpenAI);
await work(provider, () => withinSpan(provider, () => openaiLoop(new OpenAI(CLIENT))));
