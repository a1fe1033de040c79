import type { FlushAnswer, TimeLimit } from './record-queue-options.ts';
import { logAllUnsaved } from './waiting-run.ts';

export interface Flushable {
  readonly isEmpty: boolean;
  flush(limit?: TimeLimit): Promise<FlushAnswer>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const TIME_LIMIT_MS = 2_000;

const flushables = new Map<Flushable, number>();
const timedOutQueues = new Set<Flushable>();
let isFlushing = false;

/**
 * At SIGTERM, SIGINT or an empty event loop. The signal is then raised again without our handler, and a second one ends
 * the wait; the exit code stays. Not at `process.exit()`, SIGKILL and uncaught errors.
 *
 * @returns a function that removes the queue
 */
export function flushOnExit(queue: Flushable, limit: TimeLimit): () => void {
  if (flushables.size === 0) {
    for (const signal of SIGNALS) process.on(signal, onSignal);
    process.on('beforeExit', onBeforeExit);
  }
  flushables.set(queue, limit.timeLimitMs ?? TIME_LIMIT_MS);
  return () => {
    timedOutQueues.delete(queue);
    if (!flushables.delete(queue) || flushables.size > 0) return;
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.off('beforeExit', onBeforeExit);
  };
}

function onSignal(signal: NodeJS.Signals): void {
  if (isFlushing) {
    raiseAgain(signal);
    return;
  }
  void flushAndRaise(signal);
}

async function flushAndRaise(signal: NodeJS.Signals): Promise<void> {
  isFlushing = true;
  await Promise.all(Array.from(flushables, flush));
  // A process that a signal ends has no event `exit`.
  if (process.listenerCount(signal) - 1 <= countSignalExitListeners()) logAllUnsaved();
  isFlushing = false;
  raiseAgain(signal);
}

function raiseAgain(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) - 1 > countSignalExitListeners()) return;
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}

/** `signal-exit` publishes their number. They do nothing while others exist, and else raise the signal themselves. */
function countSignalExitListeners(): number {
  const emitters: readonly unknown[] = [
    Reflect.get(globalThis, Symbol.for('signal-exit emitter')),
    Reflect.get(process, '__signal_exit_emitter__'),
  ];
  let count = 0;
  for (const emitter of emitters) {
    if (typeof emitter !== 'object' || emitter === null || !('count' in emitter)) continue;
    if (typeof emitter.count === 'number') count += emitter.count;
  }
  return count;
}

function onBeforeExit(): void {
  for (const entry of flushables) {
    const [queue] = entry;
    if (!timedOutQueues.has(queue) && !queue.isEmpty) void flushOnce(entry);
  }
}

async function flushOnce(entry: readonly [Flushable, number]): Promise<void> {
  if ((await flush(entry)) === 'incomplete') timedOutQueues.add(entry[0]);
}

async function flush([queue, timeLimitMs]: readonly [Flushable, number]): Promise<FlushAnswer> {
  try {
    return await queue.flush({ timeLimitMs });
  } catch {
    // `health` reports the fault, because there is no caller to throw to.
    return 'incomplete';
  }
}
