import { CoxswainError } from '../base/error.ts';
import type { AgentEvent } from '../records/agent-event.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { EventSink } from './listeners.ts';

/** What a channel gives. `dropped`: so many items found no room before the next one. */
export type ChannelItem =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'delta'; readonly runId: string; readonly event: AgentEvent }
  | { readonly type: 'dropped'; readonly count: number };

/** A listener that is read with `for await`, by one reader. */
export interface EventChannel extends EventSink, AsyncIterable<ChannelItem> {
  /** Ends the iteration after what waits. */
  close(): void;
}

/**
 * A channel for `listen`: what happens waits until it is read, up to `capacity` items; beyond that the newest are dropped and
 * counted, so a slow reader holds nobody up.
 *
 * @param capacity  default 1,000
 * @throws CoxswainError "invalid-argument" when `capacity` is not a whole number from 1
 */
export function eventChannel(capacity = 1_000): EventChannel {
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw new CoxswainError('invalid-argument', `the capacity of a channel is a whole number from 1, got ${capacity}`);
  }
  const waiting: ChannelItem[] = [];
  let dropped = 0;
  let isClosed = false;
  let wake = (): void => undefined;
  const take = (item: ChannelItem): void => {
    if (isClosed) return;
    if (waiting.length >= capacity) dropped += 1;
    else {
      if (dropped > 0) waiting.push({ type: 'dropped', count: dropped });
      dropped = 0;
      waiting.push(item);
    }
    wake();
  };
  const close = (): void => {
    isClosed = true;
    wake();
  };
  return {
    record: (record) => take({ type: 'record', record }),
    delta: (event, runId) => take({ type: 'delta', runId, event }),
    close,
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) yield item;
          if (dropped > 0) {
            const count = dropped;
            dropped = 0;
            yield { type: 'dropped', count } as const;
          }
          if (isClosed) return;
          if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        close();
      }
    },
  };
}
