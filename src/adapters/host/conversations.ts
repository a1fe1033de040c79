import type { Run } from '../../core/run/run.ts';
import type { AdapterOptions } from './adapter-options.ts';
import { Conversation } from './conversation.ts';

/** Returns the conversation of each run, together with adapter-specific state that `start` creates. */
export function conversations<State extends object>(
  options: AdapterOptions,
  start: () => State,
): (run: Run) => State & { readonly conversation: Conversation } {
  const byRun = new WeakMap<Run, State & { readonly conversation: Conversation }>();
  return (run) => {
    const knownState = byRun.get(run);
    if (knownState !== undefined) return knownState;
    const noWayBeforeAnswer = 'no request follows a final answer';
    const created = { ...start(), conversation: new Conversation(run, { ...options, noWayBeforeAnswer }) };
    byRun.set(run, created);
    return created;
  };
}
