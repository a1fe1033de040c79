/**
 * `node --import coxswain/ai-sdk/register app.js` records the loops of an app built on ai 7 without changing the app:
 * each call of `generateText` and `streamText` is a run, loops within tools are child runs. Gives no advice.
 * `COXSWAIN_STORE` is the address of the store; default `.coxswain/runs.db`.
 */
import { createCoxswain } from '../../run/coxswain.ts';
import { openStore } from '../../store/registry/open-store.ts';
import { recordingTelemetry, type RecordingTelemetry } from './record-telemetry.ts';

/** The SDK's global list of telemetry integrations, which its `registerTelemetry` extends. */
declare global {
  // The SDK reads it from there.
  var AI_SDK_TELEMETRY_INTEGRATIONS: RecordingTelemetry[] | undefined;
}

const store = await openStore(process.env['COXSWAIN_STORE'] ?? '.coxswain/runs.db');
const cox = createCoxswain({ store, mode: 'shadow' });
cox.flushOnExit();
globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = [
  ...(globalThis.AI_SDK_TELEMETRY_INTEGRATIONS ?? []),
  recordingTelemetry(cox),
];
