import { useContext, type ReactElement } from 'react';

import { outcomeOf } from '../../core/records/call-outcome.ts';
import type { ToolEnded, ToolStarted, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { ToolKind } from '../../core/detect/calls/tool-kind.ts';
import { countOf } from '../../core/base/number-text.ts';
import { safeText } from '../../core/base/shown-text.ts';
import { childOf, ChildRunsContext } from './child-runs.ts';
import { editOf, type EditDiff } from './edit-diff.ts';
import type { ChangedRange } from './equal-call.ts';
import { languageOf } from './code-text.tsx';
import { FoldedText, FoldedTextContext } from './folded-text.tsx';
import { Link } from './link.tsx';
import { costText } from './number-text.ts';
import { stateOf } from './run-list-row.tsx';
import { spanText } from './number-text.ts';
import { Picture } from './picture.tsx';
import { safeLine } from './safe-text.ts';
import { headlineOf, isCut, isObject, shownResult, textOf } from './text-of.ts';
import { kindColour } from './tool-kinds.ts';

const MAX_NAME = 120;
/** Maximum length of the common beginning that is shown before a difference. */
const LEAD_CHARS = 40;
const MAX_FIELDS = 40;

/** Renders a call, with its result if the result is loaded. */
export function CallView(props: {
  readonly record: TrajectoryRecord;
  readonly call: ToolStarted;
  readonly end: TrajectoryRecord | undefined;
  readonly kind: ToolKind;
  /**
   * The call that this one repeats. `= call 4` has the same result, `≈ call 4` has another result, and `~ call 4 12 15 -l` has partly
   * different arguments: from character 12 to 15, where call 4 has `-l`.
   */
  readonly equal: string | undefined;
}): ReactElement {
  const { call, end, equal, record } = props;
  // The text may contain the words of the search.
  const { words } = useContext(FoldedTextContext);
  const result = end?.payload.kind === 'tool_ended' ? end.payload : undefined;
  const { headline, isWhole, shownName } = headlineOf(call.args);
  return (
    <div className="box">
      <CallHead
        name={call.tool_name}
        kind={props.kind}
        args={headline}
        tail={tailOf(record, end, result)}
        equal={equal}
      />
      <ChildRun call={call} />
      {isWhole ? null : <Arguments args={call.args} seq={record.seq} without={shownName} />}
      {result === undefined || end === undefined ? null : equal?.startsWith('=') === true ? (
        <details className="output same" open={words.length > 0}>
          <summary>the same result as {equal.slice(2)}</summary>
          <Output ended={result} seq={end.seq} />
        </details>
      ) : (
        <Output ended={result} seq={end.seq} language={props.kind === 'read' ? languageOf(pathOf(call.args)) : ''} />
      )}
    </div>
  );
}

/** Links to the run that the call started, if any. */
function ChildRun({ call }: { readonly call: ToolStarted }): ReactElement | null {
  const run = childOf(call, useContext(ChildRunsContext));
  if (run === undefined) return null;
  const cost = run.costUsd === undefined ? '' : `, ${costText(run.costUsd)}`;
  return (
    <p className="child-run">
      <Link to={{ page: 'run', run: { source: run.source, runId: run.runId } }}>
        Open the run that this call started
      </Link>{' '}
      <span className="dim">
        {stateOf(run).text.toLowerCase()}, {countOf(run.calls, 'call')}
        {cost}
      </span>
    </p>
  );
}

/** Renders a result that came long after its call. */
export function ResultView(props: { readonly seq: number; readonly ended: ToolEnded }): ReactElement {
  return (
    <div className="box">
      <CallHead name={props.ended.tool_name} kind="unknown" args="result of an earlier call" tail={undefined} />
      <Output ended={props.ended} seq={props.seq} />
    </div>
  );
}

function CallHead(props: {
  readonly name: string;
  readonly kind: ToolKind;
  readonly args: string;
  readonly tail: ReactElement | undefined;
  readonly equal?: string | undefined;
}): ReactElement {
  const similarCall = /^~ (call \d+) (\d+) (\d+) (.*)$/s.exec(props.equal ?? '');
  return (
    <div className="call-head">
      {/* React's types do not include custom properties. */}
      <span className="tool" style={{ ['--key' as string]: kindColour(props.kind) }}>
        {safeLine(props.name).slice(0, MAX_NAME)}
      </span>
      <span className="args" dir="auto">
        {similarCall === null ? (
          props.args
        ) : (
          <ChangedText
            args={props.args}
            from={Number(similarCall[2])}
            to={Number(similarCall[3])}
            before={similarCall[4] ?? ''}
          />
        )}
      </span>
      {props.equal === undefined ? null : similarCall === null ? (
        <span className="tag stuck">{props.equal}</span>
      ) : (
        <span className="tag">like {similarCall[1]}</span>
      )}
      <span className="tail">{props.tail}</span>
    </div>
  );
}

/** Renders arguments with what they have in place of the earlier arguments. A long common beginning is cut, so that it is visible. */
export function ChangedText(props: ChangedRange & { readonly args: string }): ReactElement {
  const { args, before, from, to } = props;
  const lead = args.slice(0, from);
  return (
    <>
      {lead.length <= LEAD_CHARS ? lead : `…${lead.slice(-LEAD_CHARS)}`.toWellFormed()}
      {before === '' ? null : <del className="changed">{safeText(before)}</del>}
      {to === from ? null : <ins className="changed">{args.slice(from, to)}</ins>}
      {args.slice(to)}
    </>
  );
}

function tailOf(
  record: TrajectoryRecord,
  end: TrajectoryRecord | undefined,
  ended: ToolEnded | undefined,
): ReactElement {
  if (end === undefined || ended === undefined) return <span>no result yet</span>;
  const durationMs = end.recorded_at_unix_ms - record.recorded_at_unix_ms;
  const ms = ended.duration_ms ?? (record.recorded_at_unix_ms > 0 && durationMs >= 0 ? durationMs : undefined);
  return (
    <>
      {ended.is_error ? (
        <span className="tag bad">{ended.error_inferred === true ? 'reads as failed' : outcomeOf(ended)}</span>
      ) : null}
      {ms === undefined ? '' : ` ${spanText(ms)}`}
    </>
  );
}

/** Renders arguments by name, except the one that is already shown. */
function Arguments(props: {
  readonly args: unknown;
  readonly seq: number;
  readonly without: string | undefined;
}): ReactElement {
  const { args, seq } = props;
  if (!isObject(args) || isCut(args)) {
    return <FoldedText shown={textOf(args)} seq={seq} part="args" />;
  }
  const edit = editOf(args);
  const entries = Object.entries(args).filter(
    ([name]) => name !== props.without && edit?.names.includes(name) !== true,
  );
  return (
    <>
      {edit === undefined ? null : <Edit lines={edit.lines} />}
      <dl className="fields">
        {entries.slice(0, MAX_FIELDS).map(([name, value]) => (
          <Field key={name} name={name} value={value} seq={seq} language={languageOf(pathOf(args))} />
        ))}
        {entries.length > MAX_FIELDS ? <dt>and {entries.length - MAX_FIELDS} more</dt> : null}
      </dl>
    </>
  );
}

/** Renders the removed and added lines of an edit. */
function Edit({ lines }: { readonly lines: EditDiff['lines'] }): ReactElement {
  return (
    <pre className="diff" dir="auto">
      {lines.map(({ sign, text }, at) => (
        // The lines of a stored edit have a fixed order.
        <span key={at} className={sign === '-' ? 'gone' : sign === '+' ? 'new' : undefined}>
          {sign} {safeText(text)}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

/** Names of arguments that contain the text of a file. */
const CONTENTS: ReadonlySet<string> = new Set(['content', 'contents', 'file_text', 'new_string', 'new_str', 'code']);

/** Returns the file that the arguments name, if any. */
function pathOf(args: unknown): unknown {
  if (!isObject(args)) return undefined;
  return args['path'] ?? args['file_path'] ?? args['filePath'];
}

function Field(props: {
  readonly name: string;
  readonly value: unknown;
  readonly seq: number;
  /** The language of the file that the call names. */
  readonly language: string;
}): ReactElement {
  const language = CONTENTS.has(props.name) ? props.language : '';
  return (
    <>
      <dt>{safeLine(props.name).slice(0, MAX_NAME)}</dt>
      <dd>
        <FoldedText shown={textOf(props.value)} seq={props.seq} part={`args.${props.name}`} language={language} />
      </dd>
    </>
  );
}

function Output(props: { readonly ended: ToolEnded; readonly seq: number; readonly language?: string }): ReactElement {
  const { ended, language = '', seq } = props;
  const { pictures, shown } = shownResult(ended.result);
  return (
    <div className="output">
      {ended.result_missing === true ? <p className="text dim">The source has no result of this call.</p> : null}
      {shown.text === '' && pictures.length === 0 && ended.result_missing !== true ? (
        <p className="text dim">nothing</p>
      ) : null}
      <FoldedText shown={shown} seq={seq} part="result" language={ended.is_error ? '' : language} />
      {pictures.map((picture, at) => (
        // The parts of a stored result have a fixed order.
        <Picture key={at} picture={picture} seq={seq} />
      ))}
    </div>
  );
}
