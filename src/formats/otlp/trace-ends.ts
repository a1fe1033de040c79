import { readSpan } from './read-span.ts';
import type { TraceSpan } from './trace-span.ts';

/** Returns true if a span ends its trace: it has ended, and it has no parent or a parent in another process. */
export function endsTrace({ parentId, remoteParent, endMs, details, isEvent }: TraceSpan): boolean {
  const isSpan = details !== true && isEvent !== true;
  return isSpan && endMs !== undefined && (parentId === undefined || remoteParent === true);
}

/** Returns true for agent spans and their details. Other spans only define the hierarchy. */
export function isOfAgent(span: TraceSpan): boolean {
  return span.details === true || readSpan(span) !== undefined;
}
