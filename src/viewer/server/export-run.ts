import { passOver } from '../../records/pass-over.ts';
import { assertNever } from '../../base/assert-never.ts';
import { html, htmlText, type Html } from '../../html/html.ts';
import { pageFrame } from '../../html/page.ts';
import { toStoredRecord } from '../../records/encode-record.ts';
import type { StoredContent } from '../../records/stored-message.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../records/trajectory-record.ts';
import { createRedactor, type Redactor } from '../../redaction/redactor.ts';
import { RunView } from '../../run-view/run-view.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import { resultText } from '../../calls/result-text.ts';
import type { Overview } from './api-shapes.ts';
import { createBreather } from './breather.ts';
import { isDamage } from './read-records.ts';
import type { RunReader } from './run-reader.ts';
import { problemOf } from './viewer-fault.ts';

/** What is exported. */
export interface ExportedRun {
  readonly run: RunSummary;
  readonly overview: Overview;
  readonly reader: RunReader;
}

/** Texts longer than this are folded, and cut at the other. */
const FOLDED_CHARS = 800;
const MAX_CHARS = 20_000;
const MAX_NAME_CHARS = 200;

/**
 * One run as one HTML file that opens without a network: no script, its style inside and allowed by its hash, every text of the
 * trajectory escaped, secrets replaced once more as in a live run, images left out, because nobody can tell what they show.
 *
 * Pieces come as the run is read: memory is bounded by about a megabyte. Of a run that is damaged, what lies before is given, and what
 * is wrong.
 *
 * @throws CoxswainError when the store cannot be read
 */
export async function* exportRun({ overview, reader, run }: ExportedRun): AsyncGenerator<string, void, void> {
  const redactor = createRedactor();
  const [head, tail] = pageFrame(`coxswain run ${redactedText(redactor, run.runId)}`);
  yield htmlText(head);
  yield htmlText(summaryHtml(run, redactor));
  yield htmlText(patternsHtml(overview, redactor));
  yield htmlText(adviceHtml(overview, redactor));
  yield '<h2>Record</h2>\n';
  const view = new RunView();
  const breath = createBreather();
  try {
    for await (const record of reader.readRun(run.runId)) {
      const pause = breath();
      if (pause !== undefined) await pause;
      const call = view.fold(record);
      yield htmlText(entryHtml({ ...record, payload: redactor.redact(record.payload) }, call?.number));
    }
  } catch (error) {
    if (!isDamage(error) && run.problem === undefined) throw error;
    yield htmlText(html`<p class="bad">The run cannot be read further: ${problemOf(error).problem.message}</p> `);
  }
  yield htmlText(tail);
}

/** A file name of a run's export: letters, digits, and a few marks. */
export function exportName(runId: string): string {
  const name = runId
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80);
  return `coxswain-${name === '' ? 'run' : name}.html`;
}

/** Any text through the rules for what a tool gives back. */
function redactedText(redactor: Redactor, text: string): string {
  const payload = redactor.redact({ kind: 'session_event', event_type: 'export', data: text });
  return payload.kind === 'session_event' && typeof payload.data === 'string' ? payload.data : '';
}

function summaryHtml(run: RunSummary, redactor: Redactor): Html {
  const {
    calls,
    errors,
    format,
    lastAtMs,
    modelId,
    outcome,
    parentRunId,
    problem,
    records,
    reward,
    startedAtMs,
    success,
    turns,
  } = run;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Run', run.runId],
    ['Started by', parentRunId],
    ['Model', modelId],
    ['Format', format],
    ['Began', startedAtMs > 0 ? timeText(startedAtMs) : undefined],
    ['Last record', lastAtMs > 0 ? timeText(lastAtMs) : undefined],
    ['Outcome', outcome ?? 'open'],
    ['Success', success === undefined ? undefined : success ? 'yes' : 'no'],
    ['Reward', reward === undefined ? undefined : String(reward)],
    ['Counts', `${turns} turns, ${calls} calls, ${errors} errors, ${records} records`],
    ['Problem', problem],
  ];
  const rows = facts.map(([name, value]) =>
    value === undefined
      ? undefined
      : html`<dt>${name}</dt>
          <dd>${redactedText(redactor, value)}</dd> `,
  );
  return html`<dl>${rows}</dl> `;
}

function patternsHtml({ patternBasis, patterns, patternsLeftOut }: Overview, redactor: Redactor): Html {
  if (patterns.length === 0) return html``;
  const basis =
    patternBasis === 'recorded'
      ? 'Recorded by the steering of the run.'
      : 'Found by the default detectors when the run was read.';
  const rows = patterns.map(({ flaggedSeq, fromCall, fromSeq, kind, level, occurrences, stuck, toCall, tool }) => {
    const until = toCall === null ? 'the end' : `call ${toCall}`;
    const mark = stuck ? html`<b class="bad">stuck</b> ` : undefined;
    const of = tool === undefined ? '' : `, ${redactedText(redactor, tool)}`;
    const where = flaggedSeq ?? fromSeq;
    return html`<li>
      ${mark}${kind} (${level})${of}: from call ${fromCall} to ${until}, seen ${occurrences} times,
      <a href="#s${where}">record ${where}</a>
    </li> `;
  });
  const more = patternsLeftOut > 0 ? html`<p>${patternsLeftOut} more are not listed.</p> ` : undefined;
  return html`<h2>Patterns</h2>
    <p class="dim">${basis}</p>
    <ul>
      ${rows}
    </ul>
    ${more}`;
}

function adviceHtml({ advice, adviceLeftOut }: Overview, redactor: Redactor): Html {
  if (advice.length === 0) return html``;
  const rows = advice.map(({ delivered, fate, provider, reason, seq, text }) => {
    const because = reason === undefined ? '' : ` (${redactedText(redactor, reason)})`;
    const state =
      delivered === null ? 'nobody said whether it arrived' : delivered ? 'delivered' : `not delivered${because}`;
    const [who, what] = [provider, text].map((part) => redactedText(redactor, part));
    return html`<li>
      <a href="#s${seq}">record ${seq}</a> ${who}, ${state}; ${fate}
      <pre>${what}</pre>
    </li> `;
  });
  const more = adviceLeftOut > 0 ? html`<p>${adviceLeftOut} more pieces are not listed.</p> ` : undefined;
  return html`<h2>Advice</h2>
    <p class="dim">What followed is what followed: none of this says that the advice was the reason.</p>
    <ul>
      ${rows}
    </ul>
    ${more}`;
}

function entryHtml(record: TrajectoryRecord, call: number | undefined): Html {
  const { payload, recorded_at_unix_ms: atMs, seq } = record;
  const { body, mark, name } = shown(payload, call);
  const when = atMs > 0 ? html`<time>${timeText(atMs)}</time>` : undefined;
  return html`<article id="s${seq}" class="${mark}">
    <h3>${seq} ${short(name)} ${when}</h3>
    ${body}
  </article> `;
}

interface Shown {
  readonly name: string;
  readonly mark: 'plain' | 'call' | 'bad' | 'pattern' | 'advice' | 'message' | 'turn';
  readonly body?: Html | undefined;
}

function shown(payload: TrajectoryPayload, call: number | undefined): Shown {
  const at = call === undefined ? '' : ` ${call}`;
  switch (payload.kind) {
    case 'turn_started':
      return { name: 'turn', mark: 'turn' };
    case 'message_appended': {
      const { message } = payload;
      return { name: message.role, mark: 'message', body: block(contentText(message.content)) };
    }
    case 'tool_started':
      return { name: `call${at} ${payload.tool_name}`, mark: 'call', body: block(valueText(payload.args)) };
    case 'tool_ended': {
      const state = payload.result_missing === true ? 'no result' : payload.is_error ? 'error' : 'result';
      const name = `${state} of call${at} ${payload.tool_name}`;
      return { name, mark: payload.is_error ? 'bad' : 'call', body: block(resultText(payload.result)) };
    }
    case 'pattern_flagged':
    case 'pattern_cleared': {
      const { kind, level, occurrences } = payload.pattern;
      const what = payload.kind === 'pattern_flagged' ? 'pattern' : 'pattern left';
      return { name: `${what}: ${kind} (${level}, seen ${occurrences} times)`, mark: 'pattern' };
    }
    case 'feedback_produced':
      return { name: `feedback of ${payload.provider_name}`, mark: 'advice', body: block(payload.text) };
    case 'guidance_produced':
      return { name: `guidance of ${payload.provider_name}`, mark: 'advice', body: block(payload.injection.content) };
    case 'run_started':
      return { name: 'the run begins', mark: 'plain', body: block(payload.task ?? '') };
    case 'run_ended':
      return { name: `the run ends: ${payload.outcome}`, mark: 'plain' };
    default:
      passOver<'life' | 'talk' | 'requests' | 'host' | 'delivered' | 'asked' | 'faults' | 'unread'>(payload);
      return shownAsStored(payload);
  }
}

function shownAsStored(payload: TrajectoryPayload): Shown {
  const record = { schema_version: 1, seq: 0, depth: 0, recorded_at_unix_ms: 0, payload };
  const { kind, ...rest } = toStoredRecord(record).payload;
  return { name: typeof kind === 'string' ? kind : 'record', mark: 'plain', body: block(valueText(rest)) };
}

function block(text: string): Html | undefined {
  if (text.trim() === '') return undefined;

  const left = text.length - MAX_CHARS;
  const cut = left > 0 ? `${text.slice(0, MAX_CHARS)}\n… ${left} more characters` : text;
  if (text.length <= FOLDED_CHARS) return html`<pre>${cut}</pre>`;
  const head = text.slice(0, 120).replaceAll(/\s+/g, ' ');
  return html`<details>
    <summary>${head}… (${text.length} characters)</summary>
    <pre>${cut}</pre>
  </details>`;
}

function contentText(content: StoredContent): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => {
      switch (part.type) {
        case 'text':
          return part.text;
        case 'reasoning':
          return `(thinking) ${part.text}`;
        case 'tool_call':
          return `(calls ${part.name}) ${valueText(part.args)}`;
        case 'image':
          return `(an image, ${part.media_type}, left out)`;
        case 'other':
          return valueText(part.value);
        default:
          return assertNever(part);
      }
    })
    .join('\n');
}

/** A heading is one line, whatever a host calls its tools. */
function short(name: string): string {
  const line = name.slice(0, 2 * MAX_NAME_CHARS).replaceAll(/\s+/g, ' ');
  return line.length <= MAX_NAME_CHARS ? line : `${line.slice(0, MAX_NAME_CHARS - 1)}…`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}

function timeText(atMs: number): string {
  const date = new Date(atMs);
  // A source may say anything.
  return Number.isNaN(date.getTime()) ? String(atMs) : date.toISOString().slice(0, 19).replace('T', ' ');
}
