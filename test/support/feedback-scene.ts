import { createSession } from '../../src/core/session/create-session.ts';
import type { Slice } from '../../src/core/session/define-slice.ts';
import type { Session } from '../../src/core/session/session.ts';
import { toolInvoked } from '../../src/core/session/tool-invoked.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';

interface SceneCall {
  readonly name?: string;
  readonly success?: boolean;
  readonly promptName?: string;
}

/** A session whose time and tool calls a test makes happen. */
export interface FeedbackScene {
  readonly clock: FakeClock;
  readonly session: Session;
  /** Dispatches `count` tool calls, each called `read_file` unless named. */
  readonly call: (count?: number, call?: SceneCall) => void;
}

/** @param promptName the prompt in force for calls that name no other */
export function createFeedbackScene(promptName: string, slices: readonly Slice<unknown>[] = []): FeedbackScene {
  const clock = createFakeClock();
  const session = createSession({ clock, slices });
  return {
    clock,
    session,
    call(count = 1, call = {}): void {
      for (let index = 0; index < count; index += 1) {
        const outcome = { name: 'read_file', params: { index }, result: 'ok', success: true, promptName, ...call };
        session.dispatch(toolInvoked(outcome));
      }
    },
  };
}
