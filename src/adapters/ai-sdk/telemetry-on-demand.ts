import { AsyncLocalStorage } from 'node:async_hooks';

import type { RecordingTelemetry } from './record-telemetry.ts';

/** Events wait in order, each with its async context, which decides its run. If `load` rejects, nothing is recorded. */
export function telemetryOnDemand(
  load: () => Promise<RecordingTelemetry>,
  onFault: (error: unknown) => void,
): RecordingTelemetry {
  let telemetry: RecordingTelemetry | undefined;
  let loading: Promise<void> | undefined;
  const loadOnce = async (): Promise<void> => {
    try {
      telemetry = await load();
    } catch (error) {
      onFault(error);
    }
  };
  const loaded = (): Promise<void> => (loading ??= loadOnce());
  const pass = (handle: (telemetry: RecordingTelemetry) => void): void => {
    if (telemetry !== undefined) return handle(telemetry);
    const inContext = AsyncLocalStorage.snapshot();
    const handleLater = async (): Promise<void> => {
      await loaded();
      try {
        if (telemetry !== undefined) inContext(handle, telemetry);
      } catch (error) {
        onFault(error);
      }
    };
    void handleLater();
  };
  return {
    onStart: (event) => pass((recording) => recording.onStart(event)),
    onLanguageModelCallStart: (event) => pass((recording) => recording.onLanguageModelCallStart(event)),
    onLanguageModelCallEnd: (event) => pass((recording) => recording.onLanguageModelCallEnd(event)),
    onToolExecutionStart: (event) => pass((recording) => recording.onToolExecutionStart(event)),
    onToolExecutionEnd: (event) => pass((recording) => recording.onToolExecutionEnd(event)),
    onEnd: (event) => pass((recording) => recording.onEnd(event)),
    onAbort: (event) => pass((recording) => recording.onAbort(event)),
    onError: (event) => pass((recording) => recording.onError(event)),
    // A tool waits too, because the runs in it are children of its run.
    executeTool: async (call) => {
      if (telemetry === undefined) await loaded();
      return telemetry === undefined ? call.execute() : telemetry.executeTool(call);
    },
  };
}
