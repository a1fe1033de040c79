import { invalidArgument } from '../base/error.ts';
import type { AgentEvent } from '../records/agent-event.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { EventSink } from './listeners.ts';

/** An item of the channel. `dropped` is the number of items that did not fit before the next item. */
export type ChannelItem =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'delta'; readonly runId: string; readonly event: AgentEvent }
  | { readonly type: 'dropped'; readonly count: number };

/** A listener that a single reader iterates with `for await`. */
export interface EventChannel extends EventSink, AsyncIterable<ChannelItem> {
  /** Ends the iteration after the buffered items. */
  close(): void;
}

/**
 * Creates a channel for `listen`. It buffers up to `capacity` items. Further items are dropped and counted, so that a slow
 * reader delays no other code.
 *
 * @param capacity  default 1,000
 * @throws CoxswainError "invalid-argument" if `capacity` is not a whole number from 1
 */
export function eventChannel(capacity = 1_000): EventChannel {
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw invalidArgument(`the capacity of a channel is a whole number from 1, got ${capacity}`);
  }
  const queue: ChannelItem[] = [];
  let dropped = 0;
  let isClosed = false;
  let wake = (): void => undefined;
  const takeItem = (item: ChannelItem): void => {
    if (isClosed) return;
    if (queue.length >= capacity) dropped += 1;
    else {
      if (dropped > 0) queue.push({ type: 'dropped', count: dropped });
      dropped = 0;
      queue.push(item);
    }
    wake();
  };
  const closeChannel = (): void => {
    isClosed = true;
    wake();
  };
  return {
    record: (record) => takeItem({ type: 'record', record }),
    delta: (event, runId) => takeItem({ type: 'delta', runId, event }),
    close: closeChannel,
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          for (let item = queue.shift(); item !== undefined; item = queue.shift()) yield item;
          if (dropped > 0) {
            const count = dropped;
            dropped = 0;
            yield { type: 'dropped', count } as const;
          }
          if (isClosed) return;
          if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        closeChannel();
      }
    },
  };
}
