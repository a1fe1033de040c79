import { AsyncLocalStorage } from 'node:async_hooks';
import { isJsonObject } from '../../core/base/json.ts';
import { textField } from './sdk-shapes.ts';

/** One call of `generateText` or `streamText`. */
export class SdkLoop {
  /** The name that the user gave the call in telemetry. Empty for a call without a name. */
  readonly functionId: string;
  readonly #onEnd: (() => void)[] = [];
  #isOver = false;

  constructor(functionId: string) {
    this.functionId = functionId;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  end(): void {
    this.#isOver = true;
    for (const listener of this.#onEnd.splice(0)) listener();
  }
}

const LOOPS: ReadonlySet<unknown> = new Set(['generateText', 'streamText']);

const storage = new AsyncLocalStorage<{ readonly loop: SdkLoop | undefined }>();
const open = new Map<string, SdkLoop>();
let isListening = false;

/**
 * Returns the innermost SDK loop around the current code. The loop comes from the diagnostics channel `ai:telemetry` of ai 7.
 * Undefined outside of loops, in ai 6, with `telemetry: { isEnabled: false }`, and if the channel does not exist.
 */
export function sdkLoop(): SdkLoop | undefined {
  return storage.getStore()?.loop;
}

/** Starts tracking loops for `sdkLoop`. Runs once per process. */
export function listenToSdkLoops(): void {
  if (isListening) return;
  isListening = true;
  // Loaded on demand: some runtimes lack this module.
  const diagnostics = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');
  const channel = diagnostics?.tracingChannel('ai:telemetry');
  channel?.start.bindStore(storage, (message) => ({ loop: loopOf(message) ?? sdkLoop() }));
  channel?.asyncEnd.subscribe((message) => {
    if (!isJsonObject(message) || !LOOPS.has(message['type'])) return;
    const callId = callIdOf(message);
    const loop = open.get(callId);
    open.delete(callId);
    loop?.end();
  });
}

function loopOf(message: unknown): SdkLoop | undefined {
  if (!isJsonObject(message)) return undefined;
  const callId = callIdOf(message);
  if (LOOPS.has(message['type']) && !open.has(callId)) {
    const { event } = message;
    open.set(callId, new SdkLoop(isJsonObject(event) ? textField(event, 'functionId') : ''));
  }
  return open.get(callId);
}

function callIdOf({ event }: Readonly<Record<string, unknown>>): string {
  return isJsonObject(event) ? textField(event, 'callId') : '';
}
