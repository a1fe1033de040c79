import { setImmediate as nextTurn } from 'node:timers/promises';

import { steadyMs } from '../base/clock.ts';

/** Maximum time between two turns of the event loop, in milliseconds. */
const WORK_MS = 8;

/**
 * Lets a server process do long work without blocking the event loop. Call the returned function regularly.
 *
 * @returns a function that returns a promise to await if the event loop needs a turn, else undefined
 */
export function createBreather(): () => Promise<void> | undefined {
  let untilMs = steadyMs() + WORK_MS;
  return () => (steadyMs() < untilMs ? undefined : letOthersRun());

  async function letOthersRun(): Promise<void> {
    await nextTurn();
    untilMs = steadyMs() + WORK_MS;
  }
}
