import type { Json, JsonObject } from '../base/json.ts';
import { toStoredRecord } from '../records/encode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/**
 * Returns the text of a record that is searched: every string value of its payload, one per line. Keys, numbers and `kind`
 * are not included.
 */
export function recordText(record: TrajectoryRecord): string {
  const lines: string[] = [];
  // A decoded payload is plain JSON. The walk uses no recursion, because JSON may be nested deeper than the stack.
  const pendingValues: Json[] = [{ ...(toStoredRecord(record).payload as JsonObject), kind: null }];
  for (let value = pendingValues.pop(); value !== undefined; value = pendingValues.pop()) {
    if (typeof value === 'string') lines.push(value);
    else if (typeof value === 'object' && value !== null) {
      const childValues: readonly (Json | undefined)[] = Array.isArray(value) ? value : Object.values(value);
      for (let index = childValues.length - 1; index >= 0; index -= 1) pendingValues.push(childValues[index] ?? null);
    }
  }
  return lines.join('\n');
}
