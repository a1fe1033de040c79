import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Timers } from '../../src/core/recorder/record-queue-options.ts';

/** Timers that fire when they are told to. */
export interface FakeTimers extends Timers {
  /** Moves the time on, firing what is due in order, and lets what that sets off happen. */
  advance(ms: number): Promise<void>;
}

/** Turns of the event loop that are enough for a queue to write what became due. */
const TURNS = 6;

export function createFakeTimers(): FakeTimers {
  let nowMs = 0;
  const due = new Map<object, { readonly atMs: number; readonly run: () => void }>();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  };
  return {
    nowMs: () => nowMs,
    after: (delayMs, run) => {
      const key = {};
      due.set(key, { atMs: nowMs + delayMs, run });
      return () => void due.delete(key);
    },
    advance: async (ms) => {
      const endMs = nowMs + ms;
      await settle();
      for (;;) {
        const [next] = [...due].filter(([, one]) => one.atMs <= endMs).sort(([, a], [, b]) => a.atMs - b.atMs);
        if (next === undefined) break;
        due.delete(next[0]);
        nowMs = Math.max(nowMs, next[1].atMs);
        next[1].run();
        await settle();
      }
      nowMs = endMs;
    },
  };
}
