/** `node --import coxswain/ai-sdk/register app.js` records the agent loops of an ai 7 app in `COXSWAIN_STORE`, else the project's store. */
import { projectStoreFile } from '../../core/node/git-folder.ts';
import { messageOf } from '../../core/base/error.ts';
import type { RecordingTelemetry } from './record-telemetry.ts';
import { telemetryOnDemand } from './telemetry-on-demand.ts';

/** The SDK's global list of telemetry integrations. The SDK's `registerTelemetry` appends to the same list. */
declare global {
  // The SDK reads this global variable.
  var AI_SDK_TELEMETRY_INTEGRATIONS: RecordingTelemetry[] | undefined;
}

/** Opens the store and loads the library, which takes longer than the start of Node. A process without a model call needs neither. */
async function openTelemetry(): Promise<RecordingTelemetry> {
  const { openStore } = await import('../../stores/registry/open-store.ts');
  const { createCoxswain } = await import('../../core/run/coxswain.ts');
  const { recordingTelemetry } = await import('./record-telemetry.ts');
  const store = await openStore(process.env['COXSWAIN_STORE'] ?? projectStoreFile(process.cwd(), { env: process.env }));
  const cox = createCoxswain({ store, mode: 'shadow' });
  cox.flushOnExit();
  return recordingTelemetry(cox);
}

globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = [
  ...(globalThis.AI_SDK_TELEMETRY_INTEGRATIONS ?? []),
  telemetryOnDemand(openTelemetry, (error) => process.emitWarning(`coxswain records no runs: ${messageOf(error)}`)),
];
