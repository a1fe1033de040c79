import type { ImportItem } from '../import-item.ts';

/** Adds the duration to each `tool_ended`; leaves the items unchanged if `durationMs` is not a duration. */
export function withDuration(items: readonly ImportItem[], durationMs: number | undefined): readonly ImportItem[] {
  if (durationMs === undefined || !Number.isFinite(durationMs) || durationMs < 0) return items;
  const rounded = Math.round(durationMs);
  return items.map((item) =>
    item.type === 'record' && item.payload.kind === 'tool_ended'
      ? { ...item, payload: { ...item.payload, duration_ms: rounded } }
      : item,
  );
}
