/**
 * `node --import coxswain/ai-sdk/register app.js` records the agent loops of an app built on ai 7 without changes to the app.
 * Each call of `generateText` or `streamText` is a run. Loops within tools are child runs. No advice is given.
 * `COXSWAIN_STORE` is the address of the store; default `.coxswain/runs.db`.
 */
import { createCoxswain } from '../../run/coxswain.ts';
import { openStore } from '../../store/registry/open-store.ts';
import { recordingTelemetry, type RecordingTelemetry } from './record-telemetry.ts';

/** The SDK's global list of telemetry integrations. The SDK's `registerTelemetry` appends to the same list. */
declare global {
  // The SDK reads this global variable.
  var AI_SDK_TELEMETRY_INTEGRATIONS: RecordingTelemetry[] | undefined;
}

const store = await openStore(process.env['COXSWAIN_STORE'] ?? '.coxswain/runs.db');
const cox = createCoxswain({ store, mode: 'shadow' });
cox.flushOnExit();
globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = [
  ...(globalThis.AI_SDK_TELEMETRY_INTEGRATIONS ?? []),
  recordingTelemetry(cox),
];
