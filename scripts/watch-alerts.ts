/**
 * Replays recorded sessions with their own times, and prints each time at which a clock would have told a person that a session waits or
 * is silent: `npx node scripts/watch-alerts.ts PATH…`. Each line has the pause that followed and the next record, so that a reader can
 * judge it.
 */
import { alertOf } from '../src/core/facts/run-alert.ts';
import { RunView } from '../src/core/facts/run-view.ts';
import { periodText } from '../src/core/base/number-text.ts';
import { findSources } from '../src/formats/find-sources.ts';
import { importSource } from '../src/formats/import-source.ts';
import { readRuns } from '../src/formats/read-runs.ts';

const AFTER_END_MS = 3_600_000;
let runs = 0;
const seen = new Set<string>();
for await (const { path } of findSources(process.argv.slice(2))) {
  const views = new Map<string, RunView>();
  const activeAtMs = new Map<string, number>();
  try {
    for await (const item of readRuns(importSource(path), { source: path })) {
      if (item.type !== 'record') continue;
      const { record, run } = item;
      const { payload, recorded_at_unix_ms: nowMs } = record;
      const view = views.get(run.id) ?? new RunView();
      if (!views.has(run.id)) runs += 1;
      views.set(run.id, view);
      if (run.parentId !== undefined) activeAtMs.set(run.parentId, nowMs);
      const alert = alertOf(view, { nowMs, activeAtMs: activeAtMs.get(run.id) ?? 0 });
      const key = `${run.id.slice(0, 8)} ${alert?.sinceMs}`;
      if (alert !== undefined && !seen.has(key)) {
        seen.add(key);
        const next = payload.kind === 'message_appended' ? payload.message.role : payload.kind;
        console.log(
          `${run.id.slice(0, 8)}  ${alert.kind}  ${periodText(nowMs - alert.sinceMs)}  ${alert.text}  -> ${next}`,
        );
      }
      view.fold(record);
    }
    // What the watch would tell after the last record.
    for (const [id, view] of views) {
      const nowMs = view.lastAtMs + AFTER_END_MS;
      const alert = view.counts.depth > 0 ? undefined : alertOf(view, { nowMs });
      if (alert !== undefined && !seen.has(`${id.slice(0, 8)} ${alert.sinceMs}`)) {
        seen.add(`${id.slice(0, 8)} ${alert.sinceMs}`);
        console.log(`${id.slice(0, 8)}  ${alert.kind}  at the end  ${alert.text}  -> ${path}`);
      }
    }
  } catch (error) {
    console.error(`${path}: ${String(error)}`);
  }
}
console.log(`${runs} runs, ${seen.size} alerts`);
