import type { AdapterOutcome, NeutralMessage, NeutralRequest } from './adapter-harness.ts';
import { insertedText } from './inserted-text.ts';

/**
 * True where a run differs from the same one without coxswain by the text with `mark` alone, however the SDK cuts what it
 * sends into messages: for SDKs whose own texts wander from one message into another when there are more of them.
 */
export function isSameText(bare: NeutralRequest, played: NeutralRequest, mark: string): boolean {
  const inserted = insertedText(squeezed(bare), squeezed(played));
  return inserted !== undefined && (inserted.text === '' || inserted.text.includes(mark));
}

function squeezed({ messages }: NeutralRequest): string {
  return messages.map(({ text }) => text.replaceAll(/\s/g, '')).join('');
}

/**
 * What differs between a run without coxswain and the same run with it, but for text with `mark` in it that was put into a
 * message, and messages of their own with it that answer no call. One line for each difference.
 */
export function changedMessages(bare: AdapterOutcome, played: AdapterOutcome, mark: string): readonly string[] {
  if (bare.requests.length !== played.requests.length) return ['another number of requests'];
  return bare.requests.flatMap((request, index) => {
    const said = (played.requests[index]?.messages ?? []).filter((message) => !isOnlyAdvice(message, mark));
    if (said.length !== request.messages.length) return [`request ${index} has another number of messages`];
    return request.messages.flatMap((before, at) => {
      const after = said[at];
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
