import { readSpan } from './read-span.ts';
import type { TraceSpan } from './trace-span.ts';

/** Whether a span says that its trace is over: one that has no parent, or one in another process, has ended. */
export function endsTrace({ parentId, remoteParent, endMs, details, isEvent }: TraceSpan): boolean {
  const isSpan = details !== true && isEvent !== true;
  return isSpan && endMs !== undefined && (parentId === undefined || remoteParent === true);
}

/** Whether a span is of an agent, or details of one: others are kept only for where they stand. */
export function isOfAgent(span: TraceSpan): boolean {
  return span.details === true || readSpan(span) !== undefined;
}
