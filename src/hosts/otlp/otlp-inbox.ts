import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { messageOf, CoxswainError } from '../../core/base/error.ts';
import { hashText } from '../../core/base/hash.ts';
import { sqliteModule } from '../../core/node/sqlite-module.ts';
import { makeStateFolder, stateFile, type StateOwner } from '../../core/node/state-places.ts';
import { isOfAgent } from '../../formats/otlp/read-span.ts';
import { endsTrace, type TraceSpan } from '../../formats/otlp/trace-span.ts';

export interface InboxLimits {
  /** Maximum number of spans per trace; default 20,000. */
  readonly traceSpans?: number;
  /** Maximum bytes per trace as JSON; default 64 MB. */
  readonly traceBytes?: number;
  /** Maximum number of traces that are not recorded yet; default 10,000. */
  readonly traces?: number;
  /** Maximum bytes of all traces; default 512 MB. */
  readonly bytes?: number;
}

export interface TakenSpans {
  readonly accepted: number;
  /** Number of spans whose trace was already recorded. They become a separate run. */
  readonly late: number;
  /** Number of spans that were rejected because their trace is over a limit. */
  readonly refused: number;
}

export interface WaitingTrace {
  readonly traceId: string;
  /** 1 for the first part. Higher for spans that arrived after the trace was recorded. */
  readonly part: number;
}

const MEGABYTE = 1_000_000;
/** How long the span ids of a recorded trace are remembered. A span that is sent again in this time does not count as late. */
const REMEMBERED_MS = 24 * 3_600_000;

const LAYOUT = `
  CREATE TABLE IF NOT EXISTS traces (trace TEXT PRIMARY KEY, part INTEGER NOT NULL, waits INTEGER NOT NULL,
    ended INTEGER NOT NULL, last_ms INTEGER NOT NULL, spans INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS spans (trace TEXT NOT NULL, key TEXT NOT NULL, body TEXT, PRIMARY KEY (trace, key)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS waiting ON traces (waits, last_ms)`;

/** SQL statements that run for each span. */
const STATEMENTS = {
  known: 'SELECT 1 FROM spans WHERE trace = ? AND key = ?',
  trace: 'SELECT part, waits, spans, bytes FROM traces WHERE trace = ?',
  span: 'INSERT INTO spans VALUES (?, ?, ?)',
  count: `INSERT INTO traces VALUES (?1, ?2, 1, ?3, ?4, 1, ?5) ON CONFLICT DO UPDATE SET part = ?2, waits = 1,
    ended = max(ended, ?3), last_ms = ?4, spans = spans + 1, bytes = bytes + ?5`,
} as const;

/** Acknowledged spans that are not recorded yet, in the state folder, for one process. Memory: one trace while it is read. */
export class OtlpInbox {
  readonly #database: DatabaseSync;
  readonly #limits: Required<InboxLimits>;
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>;

  /** @throws CoxswainError `input-io` if the database cannot be opened, for example because another server uses it */
  constructor(owner: StateOwner, limits: InboxLimits = {}) {
    this.#limits = { traceSpans: 20_000, traceBytes: 64 * MEGABYTE, traces: 10_000, bytes: 512 * MEGABYTE, ...limits };
    const file = stateFile('otlpInbox', owner);
    try {
      makeStateFolder(owner);
      const { DatabaseSync } = sqliteModule();
      this.#database = new DatabaseSync(file, { timeout: 500 });
      chmodSync(file, 0o600);
      // Acknowledged spans must be on disk, and no other process may read the same traces.
      this.#database.exec(
        `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${LAYOUT}`,
      );
      this.#database.exec('BEGIN IMMEDIATE; COMMIT');
      const prepare = (name: keyof typeof STATEMENTS): StatementSync => this.#database.prepare(STATEMENTS[name]);
      this.#statements = {
        known: prepare('known'),
        trace: prepare('trace'),
        span: prepare('span'),
        count: prepare('count'),
      };
    } catch (error) {
      const why = /locked|busy/i.test(messageOf(error))
        ? 'another server of this project has them open'
        : messageOf(error);
      throw new CoxswainError('input-io', `the spans that wait in ${dirname(file)} cannot be opened: ${why}`, {
        cause: error,
      });
    }
  }

  /** All spans of a request, or none. Throws CoxswainError `input-too-large` over a limit, `input-io`. */
  add(spans: readonly TraceSpan[], nowMs: number): TakenSpans {
    const { traces, bytes } = this.#waiting();
    if (traces > this.#limits.traces || bytes > this.#limits.bytes) {
      throw new CoxswainError('input-too-large', `${traces} traces wait to be recorded: send it again later`);
    }
    const counts = { accepted: 0, late: 0, refused: 0 };
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const span of spans) this.#addSpan(span, nowMs, counts);
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw new CoxswainError('input-io', `the spans cannot be stored: ${messageOf(error)}`, { cause: error });
    }
    return counts;
  }

  /** Number of waiting traces, and their bytes. */
  get waitingTraces(): number {
    return this.#waiting().traces;
  }

  /** True if the waiting traces come near a limit, so that quiet ones are recorded early instead of refusing new ones. */
  get isCrowded(): boolean {
    const { traces, bytes } = this.#waiting();
    return traces > this.#limits.traces / 10 || bytes > this.#limits.bytes / 2;
  }

  /** Ended traces without new spans since `endedBeforeMs`, other ones since `quietBeforeMs`. */
  due(endedBeforeMs: number, quietBeforeMs: number): readonly WaitingTrace[] {
    const query =
      'SELECT trace, part FROM traces WHERE waits = 1 AND ((ended = 1 AND last_ms <= ?) OR last_ms <= ?) ORDER BY last_ms LIMIT 100';
    const rows = this.#database.prepare(query).all(endedBeforeMs, quietBeforeMs);
    return rows.map((row) => ({ traceId: String(row['trace']), part: Number(row['part']) }));
  }

  spansOf(traceId: string): readonly TraceSpan[] {
    const rows = this.#database.prepare('SELECT body FROM spans WHERE trace = ? AND body IS NOT NULL').all(traceId);
    // The method `add` wrote this JSON.
    return rows.map((row) => JSON.parse(String(row['body'])) as TraceSpan);
  }

  close(traceId: string, nowMs: number): void {
    const old = nowMs - REMEMBERED_MS;
    this.#database.exec('BEGIN IMMEDIATE');
    this.#database
      .prepare('UPDATE traces SET waits = 0, ended = 0, spans = 0, bytes = 0, last_ms = ? WHERE trace = ?')
      .run(nowMs, traceId);
    this.#database.prepare('UPDATE spans SET body = NULL WHERE trace = ?').run(traceId);
    this.#database
      .prepare('DELETE FROM spans WHERE trace IN (SELECT trace FROM traces WHERE waits = 0 AND last_ms < ?)')
      .run(old);
    this.#database.prepare('DELETE FROM traces WHERE waits = 0 AND last_ms < ?').run(old);
    this.#database.exec('COMMIT');
  }

  dispose(): void {
    this.#database.close();
  }

  #waiting(): { readonly traces: number; readonly bytes: number } {
    const row = this.#database
      .prepare('SELECT count(*) AS traces, total(bytes) AS bytes FROM traces WHERE waits = 1')
      .get();
    return { traces: Number(row?.['traces']), bytes: Number(row?.['bytes']) };
  }

  #addSpan(span: TraceSpan, nowMs: number, counts: { accepted: number; late: number; refused: number }): void {
    const { traceId } = span;
    // Spans that do not belong to an agent are only needed for the hierarchy, so their content is dropped.
    const body = JSON.stringify(isOfAgent(span) ? span : { ...span, attributes: {}, events: [] });
    const key = `${span.spanId} ${hashText(body)}`;
    const known = this.#statements.known.get(traceId, key);
    if (known !== undefined) {
      counts.accepted += 1;
      return;
    }
    const trace = this.#statements.trace.get(traceId);
    const { traceSpans, traceBytes } = this.#limits;
    if (Number(trace?.['spans'] ?? 0) >= traceSpans || Number(trace?.['bytes'] ?? 0) + body.length > traceBytes) {
      counts.refused += 1;
      return;
    }
    const isLate = trace !== undefined && (trace['waits'] === 0 || Number(trace['part']) > 1);
    const part = Number(trace?.['part'] ?? 0) + (trace?.['waits'] === 1 ? 0 : 1);
    this.#statements.span.run(traceId, key, body);
    this.#statements.count.run(traceId, part, endsTrace(span) ? 1 : 0, nowMs, body.length);
    counts.accepted += 1;
    if (isLate) counts.late += 1;
  }
}
