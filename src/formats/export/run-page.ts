import { createBreather } from '../../core/node/run-limited.ts';
import { callNumber, countOf } from '../../core/base/number-text.ts';
import { systemClock } from '../../core/base/clock.ts';
import { messageOf, assertNever } from '../../core/base/error.ts';
import { html, htmlText, type Html } from '../html/html.ts';
import { pageFrame } from '../html/page.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import { rowOf } from '../../core/records/kind-definition.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import { type TrajectoryRecord, outcomeOf, type TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { inWords } from '../../core/records/words.ts';
import { createRedactor, type Redactor } from '../../core/redact/redactor.ts';
import type { AdviceOutcome } from '../../core/facts/advice-outcome.ts';
import { followedText } from '../../core/facts/followed-text.ts';
import { errorLineOf } from '../../core/facts/run-call.ts';
import { runStory, storyFactsOf, type StorySentence, StoryFold } from '../../core/facts/run-story.ts';
import type { RunVerdict } from '../../core/facts/run-verdict.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { changeOf, isFlagged, timesSeen, type SeenPattern } from '../../core/facts/seen-pattern.ts';
import type { ExportedRun } from './transcript.ts';
import { adviceOf } from '../../core/records/derived-payload.ts';
import { resultText } from '../../core/detect/calls/answer-reading.ts';
import { toStoredRecord } from '../../core/records/decode-record.ts';
import type { StoredContent } from '../../core/records/agent-message.ts';

interface Findings {
  readonly view: RunView;
  readonly verdict: RunVerdict;
  readonly story: readonly StorySentence[];
  /** Patterns by the `seq` of the record that flagged, raised or cleared them. */
  readonly patterns: ReadonlyMap<number, readonly TrajectoryPattern[]>;
  readonly advice: ReadonlyMap<string, AdviceOutcome>;
  readonly callSeqs: readonly number[];
}

/**
 * The file has no script, no external address and no pictures; its inline style is allowed by a hash. Texts are
 * escaped, secrets redacted. The page of a damaged run has the readable part and the reason. Reads the records twice.
 * Memory: about 1 MB. `nowMs` is the time at which the state of a run without an end is judged.
 */
export async function* runPage(
  { records, run }: ExportedRun,
  nowMs: number = systemClock.nowMs(),
): AsyncGenerator<string, void, void> {
  const redactor = createRedactor();
  const findings = await findingsOf(records(), { nowMs, complete: run.problem === undefined });
  const [head, tail] = pageFrame(shortName(redactor.text(findings.view.started?.task ?? `Run ${run.runId}`)));
  yield htmlText(html`${head}${storyHtml(findings, redactor)}${summaryHtml(findings, run.problem, redactor)}`);
  yield htmlText(html`${patternsHtml(findings, redactor)}${adviceHtml(findings, redactor)}`);
  yield '<h2>Record</h2>\n';
  const view = new RunView();
  const followedBy = (adviceId: string): AfterAdvice | undefined => {
    const outcome = findings.advice.get(adviceId);
    const text = outcome && `${deliveryText(outcome, redactor)}; ${followedText(outcome)}`;
    return text === undefined ? undefined : { text, isSaid: outcome?.delivery === 'delivered' };
  };
  let leftOut = 0;
  try {
    for await (const record of withPauses(records())) {
      const call = view.fold(record);
      const isEntry = rowOf(record.payload) !== 'detail' || record.payload.kind === 'turn_started';
      if (!isEntry) leftOut += 1;
      else yield htmlText(entryHtml({ ...record, payload: redactor.redact(record.payload) }, call?.number, followedBy));
      for (const pattern of findings.patterns.get(record.seq) ?? []) yield htmlText(patternHtml(pattern, redactor));
    }
  } catch (error) {
    const reason = redactor.text(messageOf(error));
    yield htmlText(html`<p class="bad">The run cannot be read further: ${reason}</p> `);
  }
  if (leftOut > 0) yield htmlText(html`<p class="dim">Left out: ${countOf(leftOut, 'record')} of bookkeeping.</p> `);
  yield htmlText(tail);
}

export function pageName(runId: string): string {
  const name = runId
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80);
  return `coxswain-${name === '' ? 'run' : name}.html`;
}

async function findingsOf(
  records: AsyncIterable<TrajectoryRecord>,
  { complete, nowMs }: { readonly complete: boolean; readonly nowMs: number },
): Promise<Findings> {
  const view = new RunView({ detectors: defaultDetectors() });
  const storyFold = new StoryFold(view);
  const patterns = new Map<number, readonly TrajectoryPattern[]>();
  const callSeqs: number[] = [];
  try {
    for await (const record of withPauses(records)) {
      const call = view.fold(record);
      if (call !== undefined) callSeqs[call.number - 1] ??= call.seq;
      storyFold.fold(call, call === undefined ? undefined : errorLineOf(call, record));
      const flaggedChanges = view.changedPatterns.filter(isFlagged);
      if (flaggedChanges.length > 0) patterns.set(record.seq, flaggedChanges);
    }
  } catch {
    // The second pass fails with the same error and reports it.
  }
  const story = runStory(storyFactsOf(view, storyFold, { complete, seqOf: (index) => callSeqs[index] ?? 0 }));
  const advice = new Map(view.advice.map((outcome) => [outcome.adviceId, outcome]));
  return { view, verdict: view.verdictAt(nowMs), story, patterns, callSeqs, advice };
}

async function* withPauses(records: AsyncIterable<TrajectoryRecord>): AsyncGenerator<TrajectoryRecord, void, void> {
  const breath = createBreather();
  for await (const record of records) {
    const pause = breath();
    if (pause !== undefined) await pause;
    yield record;
  }
}

function storyHtml({ story }: Findings, redactor: Redactor): Html {
  const rows = story.map(({ name, pieces }) => {
    const parts = pieces.map(({ seq, style, text }) => {
      if (seq !== undefined) return html`<a href="#s${seq}">${text}</a>`;
      if (style === 'code') return html`<code>${redactor.text(text)}</code>`;
      return style === 'strong' ? html`<b>${redactor.text(text)}</b>` : text;
    });
    return html`<dt>${name}</dt>
      <dd>${parts}</dd> `;
  });
  return html`<dl>${rows}</dl> `;
}

function summaryHtml({ verdict, view }: Findings, problem: string | undefined, redactor: Redactor): Html {
  const { counts, outcome } = view;
  const { agentName, calls, errors, format, lastAtMs, modelId, parentRunId, records, runId, startedAtMs, turns } =
    counts;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Run', runId],
    ['Started by', parentRunId],
    ['Agent', agentName],
    ['Model', modelId],
    ['Format', format],
    ['Began', startedAtMs > 0 ? utcText(startedAtMs) : undefined],
    ['Last record', lastAtMs > 0 ? utcText(lastAtMs) : undefined],
    ['Outcome', outcome === undefined ? undefined : inWords('outcome', outcome.outcome)],
    ['Verdict', `${verdict.verdict}: ${verdict.evidence}`],
    ['Reward', outcome?.reward === undefined ? undefined : String(outcome.reward)],
    ['Counts', `${turns} turns, ${calls} calls, ${errors} errors, ${records} records`],
    ['Problem', problem],
  ];
  const rows = facts.map(([name, value]) =>
    value === undefined
      ? undefined
      : html`<dt>${name}</dt>
          <dd>${redactor.text(value)}</dd> `,
  );
  return html`<dl>${rows}</dl> `;
}

function patternsHtml({ callSeqs, view }: Findings, redactor: Redactor): Html {
  const { basis, leftOut, patterns } = view.patterns;
  const flaggedPatterns = patterns.filter(({ pattern }) => isFlagged(pattern));
  if (flaggedPatterns.length === 0) return html``;
  const origin =
    basis === 'recorded'
      ? 'Recorded by the steering of the run.'
      : 'Found by the default detectors when the run was read.';
  const remainder = leftOut > 0 ? html`<p>${leftOut} more are not listed.</p> ` : undefined;
  return html`<h2>Patterns</h2>
    <p class="dim">${origin}</p>
    <ul>
      ${flaggedPatterns.map((sighting) => patternItem(sighting, timesSeen(sighting.pattern, basis), { callSeqs, redactor }))}
    </ul>
    ${remainder}`;
}

function patternItem(
  { pattern }: SeenPattern,
  times: string,
  { callSeqs, redactor }: { readonly callSeqs: readonly number[]; readonly redactor: Redactor },
): Html {
  const { clearedAt, firstSeen, stuck } = pattern;
  const endText = clearedAt === undefined ? 'the end' : `call ${callNumber(clearedAt)}`;
  const mark = stuck ? html`<b class="bad">stuck</b> ` : undefined;
  return html`<li>
    ${mark}${patternName(pattern, redactor)}: from
    <a href="#s${callSeqs[firstSeen] ?? 0}">call ${callNumber(firstSeen)}</a> to ${endText}, seen ${times}
  </li> `;
}

function patternName({ kind, level, tool }: TrajectoryPattern, redactor: Redactor): string {
  const toolText = tool === undefined ? '' : `, ${tool}`;
  return redactor.text(`${inWords('pattern', kind)} (${inWords('level', level)})${toolText}`);
}

function adviceHtml({ view }: Findings, redactor: Redactor): Html {
  const { advice, adviceLeftOut } = view;
  if (advice.length === 0) return html``;
  const rows = advice.map((outcome) => {
    const { callsBefore, providerName, seq } = outcome;
    const who = redactor.text(providerName);
    return html`<li>
      <a href="#s${seq}">after call ${callsBefore}</a>: ${who}; ${deliveryText(outcome, redactor)};
      ${followedText(outcome)}
    </li> `;
  });
  const remainder = adviceLeftOut > 0 ? html`<p>${adviceLeftOut} more pieces are not listed.</p> ` : undefined;
  return html`<h2>Advice</h2>
    <p class="dim">What followed the advice. This does not show that the advice was the cause.</p>
    <ul>
      ${rows}
    </ul>
    ${remainder}`;
}

function deliveryText({ delivery, reason }: AdviceOutcome, redactor: Redactor): string {
  const reasonText = reason === undefined || delivery !== 'undelivered' ? '' : ` (${redactor.text(reason)})`;
  return `${inWords('delivery', delivery)}${reasonText}`;
}

function patternHtml(pattern: TrajectoryPattern, redactor: Redactor): Html {
  const change =
    pattern.clearedAt !== undefined
      ? 'pattern left'
      : changeOf(pattern) === 'raised'
        ? 'pattern, more certain'
        : 'pattern';
  return html`<article class="pattern">
    <h3>${change}: ${patternName(pattern, redactor)}, seen ${pattern.occurrences} times</h3>
  </article> `;
}

const END_WORDS = { ok: 'result', failed: 'error', refused: 'refusal', cancelled: 'cancellation' } as const;

/** Texts longer than the first limit are collapsed. Texts longer than the second limit are truncated. */
const FOLDED_CHARS = 800;
const MAX_CHARS = 20_000;
const MAX_NAME_CHARS = 200;

interface AfterAdvice {
  readonly text: string;
  /** False if the advice is not known to have reached the agent. */
  readonly isSaid: boolean;
}

function entryHtml(
  record: TrajectoryRecord,
  call: number | undefined,
  followedBy: (adviceId: string) => AfterAdvice | undefined,
): Html {
  const { payload, recorded_at_unix_ms: atMs, seq } = record;
  if (payload.kind === 'pattern_flagged' || payload.kind === 'pattern_cleared') return html``;
  const { body, mark, name } = shownEvent(payload, call);
  const timeTag = atMs > 0 ? html`<time>${utcText(atMs)}</time>` : undefined;
  const after = 'advice_id' in payload && mark === 'advice' ? followedBy(payload.advice_id ?? '') : undefined;
  return html`<article id="s${seq}" class="${mark}${after?.isSaid === false ? ' unsaid' : ''}">
    <h3>${seq} ${shortName(name)} ${timeTag}</h3>
    ${body}${after === undefined ? undefined : html`<p class="dim">${after.text}</p>`}
  </article> `;
}

interface Shown {
  readonly name: string;
  readonly mark: 'plain' | 'call' | 'bad' | 'pattern' | 'advice' | 'message' | 'turn';
  readonly body?: Html | undefined;
}

function shownEvent(payload: TrajectoryPayload, call: number | undefined): Shown {
  const callText = call === undefined ? '' : ` ${call}`;
  switch (payload.kind) {
    case 'turn_started':
      return { name: 'turn', mark: 'turn' };
    case 'message_appended': {
      const { message } = payload;
      return { name: message.role, mark: 'message', body: textBlock(contentText(message.content)) };
    }
    case 'tool_started':
      return { name: `call${callText} ${payload.tool_name}`, mark: 'call', body: textBlock(valueText(payload.args)) };
    case 'tool_ended': {
      const state = payload.result_missing === true ? 'no result' : END_WORDS[outcomeOf(payload)];
      const name = `${state} of call${callText} ${payload.tool_name}`;
      return { name, mark: payload.is_error ? 'bad' : 'call', body: textBlock(resultText(payload.result)) };
    }
    case 'feedback_produced':
    case 'guidance_produced': {
      const { speaker, text } = adviceOf(payload);
      return { name: `${speaker} of ${payload.provider_name}`, mark: 'advice', body: textBlock(text) };
    }
    case 'run_started':
      return { name: 'the run begins', mark: 'plain', body: textBlock(payload.task ?? '') };
    case 'run_ended':
      return { name: `the run ends: ${payload.outcome}`, mark: 'plain' };
    default:
      return shownAsStored(payload);
  }
}

function shownAsStored(payload: TrajectoryPayload): Shown {
  const record = { schema_version: 1, seq: 0, depth: 0, recorded_at_unix_ms: 0, payload };
  const { kind, ...rest } = toStoredRecord(record).payload;
  return { name: typeof kind === 'string' ? kind : 'record', mark: 'plain', body: textBlock(valueText(rest)) };
}

function textBlock(text: string): Html | undefined {
  if (text.trim() === '') return undefined;

  const hiddenChars = text.length - MAX_CHARS;
  const shownText = hiddenChars > 0 ? `${text.slice(0, MAX_CHARS)}\n… ${hiddenChars} more characters` : text;
  if (text.length <= FOLDED_CHARS) return html`<pre>${shownText}</pre>`;
  const head = text.slice(0, 120).replaceAll(/\s+/g, ' ');
  return html`<details>
    <summary>${head}… (${text.length} characters)</summary>
    <pre>${shownText}</pre>
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
          // The arguments are shown at the call.
          return `(calls ${part.name})`;
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

/** Returns a heading on one line for any tool name. */
function shortName(name: string): string {
  const line = name.slice(0, 2 * MAX_NAME_CHARS).replaceAll(/\s+/g, ' ');
  return line.length <= MAX_NAME_CHARS ? line : `${line.slice(0, MAX_NAME_CHARS - 1)}…`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}

function utcText(atMs: number): string {
  const date = new Date(atMs);
  // A source may contain an invalid time.
  return Number.isNaN(date.getTime()) ? String(atMs) : date.toISOString().slice(0, 19).replace('T', ' ');
}
