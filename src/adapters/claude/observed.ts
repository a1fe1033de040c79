import { checkAdapter, type AdapterOptions } from '../host/adapter-options.ts';
import { guarded, type Guard } from '../host/guarded.ts';
import type { Run } from '../../core/run/run.ts';
import { claudeSessionOf, type ClaudeSession } from './claude-session.ts';
import { observeMessage } from './observe-message.ts';
import { resultOfError, type QueryResult } from './read-result.ts';

/** Options of `observed`. */
export type ObserveOptions = Pick<AdapterOptions, 'onError'>;

/**
 * Passes the messages of a query through one by one, unchanged. Reports to `run` what hooks cannot report: answers, model,
 * usage, cost, and how the query ended. With `claudeHooks`, each event is recorded once. Without them, everything is recorded
 * and no advice is given.
 *
 * The run ends with the messages. Its outcome is `ended`, `limit` (turns or budget), `error`, or `aborted`, also if the caller
 * leaves the loop early. A later `run.end()` only waits for the store.
 *
 * @param messages  the result of `query()`; keep it if you need its methods
 * @throws the errors of `messages`, unchanged
 */
export function observed<Message>(
  run: Run,
  messages: AsyncIterable<Message>,
  options: ObserveOptions = {},
): AsyncGenerator<Message, void> {
  checkAdapter('observed', run, options, {});
  const session = claudeSessionOf(run);
  // Set the flag before the first hook, which may precede the first message.
  session.isObserved = true;
  session.result = undefined;
  return passOn(session, messages, guarded(run, options));
}

/** The result if the caller left the loop early and no result message arrived. */
const LEFT: QueryResult = { outcome: 'aborted', labels: {} };
/** The result if the stream ended without a result message. */
const OVER: QueryResult = { outcome: 'ended', labels: {} };

async function* passOn<Message>(
  session: ClaudeSession,
  messages: AsyncIterable<Message>,
  guard: Guard,
): AsyncGenerator<Message, void> {
  let end = LEFT;
  try {
    for await (const message of messages) {
      guard('a message of the Claude Agent SDK', () => observeMessage(session, message));
      yield message;
    }
    end = session.result ?? OVER;
  } catch (error) {
    end = resultOfError(error, session.result);
    throw error;
  } finally {
    session.isObserved = false;
    // A caller that leaves the loop at the result message has received the complete query.
    const last = end === LEFT ? (session.result ?? LEFT) : end;
    guard('the end of a query', () => session.end(last));
  }
}
