import type { AdapterOptions } from '../../host/adapter-options.ts';
import { guarded, type Guard } from '../../host/guarded.ts';
import type { Run } from '../../run/run.ts';
import { claudeSessionOf, type ClaudeSession } from './claude-session.ts';
import { observeMessage } from './observe-message.ts';
import { resultOfError, type QueryResult } from './read-result.ts';

/** How `observed` is set up. */
export type ObserveOptions = Pick<AdapterOptions, 'onError'>;

/**
 * Passes the messages of a query on, one by one and untouched, and tells `run` what hooks cannot: answers, the model, use
 * and cost, and how the query ended. With `claudeHooks` at the same time each thing is recorded once; without them
 * everything is recorded and nothing is said.
 *
 * When the messages are over the run is ended: `ended`, `limit` (turns or budget), `error`, or `aborted` (also when the
 * loop is left early). `run.end()` after it only waits for the store.
 *
 * @param messages  what `query()` returns; keep it where you need its methods
 * @throws what `messages` throws, in the same way
 */
export function observed<Message>(
  run: Run,
  messages: AsyncIterable<Message>,
  options: ObserveOptions = {},
): AsyncGenerator<Message, void> {
  const session = claudeSessionOf(run);
  // Before the first hook, which may come before the first message.
  session.isObserved = true;
  session.result = undefined;
  return passOn(session, messages, guarded(run, options));
}

/** A loop that was left early, where nothing else is known. */
const LEFT: QueryResult = { outcome: 'aborted', labels: {} };
/** A stream that ended without a word of how. */
const OVER: QueryResult = { outcome: 'ended', labels: {} };

async function* passOn<Message>(
  session: ClaudeSession,
  messages: AsyncIterable<Message>,
  guard: Guard,
): AsyncGenerator<Message, void> {
  let end = LEFT;
  try {
    for await (const message of messages) {
      guard('a message of the Claude Agent SDK', () => observeMessage(session, message), undefined);
      yield message;
    }
    end = session.result ?? OVER;
  } catch (error) {
    end = resultOfError(error, session.result);
    throw error;
  } finally {
    session.isObserved = false;
    // Who leaves the loop at the result has seen the end.
    const last = end === LEFT ? (session.result ?? LEFT) : end;
    guard('the end of a query', () => session.end(last), undefined);
  }
}
