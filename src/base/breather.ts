import { setImmediate as nextTurn } from 'node:timers/promises';

import { steadyMs } from './steady-ms.ts';

/** How long somebody works before others have their turn. */
const WORK_MS = 8;

/**
 * For a long piece of work in one process with a server: call it now and then.
 *
 * @returns a promise to wait for when it is the others' turn, undefined when the work may go on
 */
export function createBreather(): () => Promise<void> | undefined {
  let untilMs = steadyMs() + WORK_MS;
  return () => (steadyMs() < untilMs ? undefined : breathe());

  async function breathe(): Promise<void> {
    await nextTurn();
    untilMs = steadyMs() + WORK_MS;
  }
}
