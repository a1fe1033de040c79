import type { AdapterOutcome, NeutralMessage, NeutralRequest } from './adapter-harness.ts';
import { insertedText } from './inserted-text.ts';

/**
 * Returns true if a request differs from the request without coxswain only by text with `mark`. Ignores message boundaries,
 * because some SDKs move their own texts between messages.
 */
export function isSameText(baseline: NeutralRequest, request: NeutralRequest, mark: string): boolean {
  const insertion = insertedText(textWithoutSpaces(baseline), textWithoutSpaces(request));
  return insertion !== undefined && (insertion.text === '' || insertion.text.includes(mark));
}

function textWithoutSpaces({ messages }: NeutralRequest): string {
  return messages.map(({ text }) => text.replaceAll(/\s/g, '')).join('');
}

/**
 * Returns a message for each difference between a run without coxswain and the same run with coxswain. Ignores text with `mark`
 * that is inserted into a message, and separate messages with such text that are not tool results.
 */
export function changedMessages(baseline: AdapterOutcome, outcome: AdapterOutcome, mark: string): readonly string[] {
  if (baseline.requests.length !== outcome.requests.length) return ['a different number of requests'];
  return baseline.requests.flatMap((request, index) => {
    const messages = (outcome.requests[index]?.messages ?? []).filter((message) => !isOnlyAdvice(message, mark));
    if (messages.length !== request.messages.length) return [`request ${index} has a different number of messages`];
    return request.messages.flatMap((message, at) => {
      const changed = messages[at];
      if (changed !== undefined && isSameButForAdvice(message, changed, mark)) return [];
      return [`request ${index}, message ${at}: ${JSON.stringify(message)} became ${JSON.stringify(changed)}`];
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
  const insertion = insertedText(before.text, after.text);
  return insertion !== undefined && (insertion.text === '' || insertion.text.includes(mark));
}
