import type { AdapterOutcome, NeutralMessage, NeutralRequest } from './adapter-harness.ts';
import { insertedText } from './inserted-text.ts';

/**
 * Returns true if a request differs from the request without coxswain only by text with `mark`. Ignores message boundaries,
 * because some SDKs move their own texts between messages.
 */
export function isSameText(bare: NeutralRequest, played: NeutralRequest, mark: string): boolean {
  const inserted = insertedText(squeezed(bare), squeezed(played));
  return inserted !== undefined && (inserted.text === '' || inserted.text.includes(mark));
}

function squeezed({ messages }: NeutralRequest): string {
  return messages.map(({ text }) => text.replaceAll(/\s/g, '')).join('');
}

/**
 * Returns a message for each difference between a run without coxswain and the same run with coxswain. Ignores text with `mark`
 * that is inserted into a message, and separate messages with such text that are not tool results.
 */
export function changedMessages(bare: AdapterOutcome, played: AdapterOutcome, mark: string): readonly string[] {
  if (bare.requests.length !== played.requests.length) return ['another number of requests'];
  return bare.requests.flatMap((request, index) => {
    const messages = (played.requests[index]?.messages ?? []).filter((message) => !isOnlyAdvice(message, mark));
    if (messages.length !== request.messages.length) return [`request ${index} has another number of messages`];
    return request.messages.flatMap((before, at) => {
      const after = messages[at];
      if (after !== undefined && isSameButForAdvice(before, after, mark)) return [];
      return [`request ${index}, message ${at}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`];
    });
  });
}

function isOnlyAdvice({ toolCallId, text }: NeutralMessage, mark: string): boolean {
  return toolCallId === undefined && text.includes(mark);
}

function isSameButForAdvice(before: NeutralMessage, after: NeutralMessage, mark: string): boolean {
  if (before.role !== after.role || before.toolCallId !== after.toolCallId || before.isError !== after.isError) {
    return false;
  }
  const inserted = insertedText(before.text, after.text);
  return inserted !== undefined && (inserted.text === '' || inserted.text.includes(mark));
}
