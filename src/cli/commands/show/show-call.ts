import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { readArguments } from '../../../core/detect/calls/argument-reading.ts';
import { resultText } from '../../../core/detect/calls/answer-reading.ts';
import { defaultDetectors } from '../../../core/detect/detectors/default-detectors.ts';
import type { PatternDetector, StepContext } from '../../../core/detect/patterns/pattern-detector.ts';
import { makeStep, unwrapResult, type ResultReading, type Step } from '../../../core/detect/patterns/step.ts';
import type { TrajectoryPattern } from '../../../core/records/trajectory-pattern.ts';
import { outcomeOf, type ToolEnded, type TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { inWords } from '../../../core/records/words.ts';
import { countOf } from '../../../core/base/number-text.ts';
import { commandLineOf } from '../../../core/facts/check-command.ts';
import { type RunCall, callText } from '../../../core/facts/run-call.ts';
import { checkResult, type LastCheck } from '../../../core/facts/run-verdict.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import { heading, linesOf, styled, type Document } from '../../document/document.ts';
import { printableCut } from '../../../core/base/printable.ts';

/** How a call was classified. Call numbers start at 1. Contains untrusted text: pass it through `printable` before showing it. */
export interface ReadCall {
  readonly run: string;
  readonly call: number;
  readonly calls: number;
  readonly preview: string;
  readonly kind: string;
  readonly kindReason: string;
  /** True if detectors treat the call as failed. */
  readonly failed: boolean;
  readonly failedReason: string;
  /** True if the run counts the call as an error: the source flags it, or it is inferred if the source has no flags. */
  readonly countedAsError: boolean;
  readonly failureLine: string;
  readonly resultText: string;
  /** The first and last lines of what the call printed, without those that its host adds. */
  readonly shownLines: readonly string[];
  readonly comparedText: string;
  readonly comparedLines: readonly string[];
  readonly rules: readonly string[];
  readonly novel: boolean;
  /** True if the call changed something, so that earlier calls no longer count as equal. */
  readonly beganEpoch: boolean;
  /** Earlier calls since the last change with the same arguments and result, only the same arguments, or only the same result. */
  readonly sameCalls: readonly number[];
  readonly sameArguments: readonly number[];
  readonly sameResults: readonly number[];
  readonly patterns: readonly TrajectoryPattern[];
  /** The checks that the call ran, as the run counts them. One that passed later may be gone. */
  readonly checks: readonly LastCheck[];
}

interface SeenStep {
  readonly step: Step;
  readonly context: StepContext;
}

const TEXT_CHARS = 2_000;
const FIRST_LINES = 3;
const LAST_LINES = 6;
const COMMAND_CHARS = 400;
const LINE_CHARS = 160;
/** Maximum number of call numbers in a line. The last ones are shown. */
const SHOWN_CALLS = 32;

/**
 * Reads the run to its end, because a pattern may be flagged after the call. Memory: two keys per call since the last
 * change.
 *
 * @throws CoxswainError `invalid-argument` if the run does not contain the call; `input-io` if the call has no result
 */
export async function explainCall(
  runId: string,
  number: number,
  records: AsyncIterable<TrajectoryRecord>,
): Promise<ReadCall> {
  let seen: SeenStep | undefined;
  const witness = witnessDetector((one) => (seen = one));
  const view = new RunView({ detectors: [...defaultDetectors(), witness], recompute: true });
  let epoch = -1;
  let begun = '';
  let compared: { readonly number: number; readonly argsKey: string; readonly resultKey: string }[] = [];
  let found: Omit<ReadCall, 'run' | 'call' | 'calls' | 'patterns' | 'checks'> | undefined;
  let checks: readonly LastCheck[] = [];
  for await (const record of records) {
    seen = undefined;
    const call = view.fold(record);
    // The output of a check in the background comes later.
    if (begun !== '' || call?.number === number) {
      const own = view.checks.filter((check) => check.number === number);
      if (own.length > 0) checks = own;
    }
    if (call?.number === number && begun === '') begun = callText(call.tool, call.args);
    // The detector runs inside the fold.
    const current = seen as SeenStep | undefined;
    if (call === undefined || current === undefined || found !== undefined) continue;
    const { context, step } = current;
    const { argsKey, resultKey } = step;
    if (context.epoch !== epoch) compared = [];
    epoch = context.epoch;
    if (call.number === number && record.payload.kind === 'tool_ended') {
      const numbersOf = (isSameCall: boolean, isSameResult: boolean): readonly number[] =>
        compared
          .filter((one) => (one.argsKey === argsKey) === isSameCall && (one.resultKey === resultKey) === isSameResult)
          .map((one) => one.number);
      found = {
        ...readingOf(call, record.payload, step),
        novel: context.novel,
        beganEpoch: context.advanced,
        sameCalls: numbersOf(true, true),
        sameArguments: numbersOf(true, false),
        sameResults: numbersOf(false, true),
      };
    }
    compared.push({ number: call.number, argsKey, resultKey });
  }
  const id = printableCut(runId, 80);
  const { calls } = view;
  if (number > calls) {
    const choice = calls === 0 ? 'no calls' : `${calls} calls; give a number from 1 to ${calls}`;
    throw invalidArgument(`--call ${number}: run ${id} has ${choice}`);
  }
  if (found === undefined)
    throw new CoxswainError(
      'input-io',
      `call ${number} of run ${id} has no result on record: ${printableCut(begun, LINE_CHARS)}`,
    );
  const patterns = view.patterns.patterns.map(({ pattern }) => pattern).filter((one) => coversCall(one, number - 1));
  return { run: runId, call: number, calls, ...found, checks, patterns };
}

/** Creates a detector that finds no pattern. It passes each step to `onSeen`, in the same form as for the other detectors. */
function witnessDetector(onSeen: (seen: SeenStep) => void): PatternDetector {
  return {
    name: 'witness',
    start: () => ({
      observe(step, context) {
        onSeen({ step, context });
        return undefined;
      },
      snapshot: () => null,
    }),
  };
}

function coversCall({ evidence, firstSeen, flaggedAt }: TrajectoryPattern, index: number): boolean {
  const last = Math.max(firstSeen, flaggedAt ?? 0, evidence.at(-1) ?? 0);
  return index >= firstSeen && index <= last;
}

type Reading = Pick<
  ReadCall,
  | 'preview'
  | 'kind'
  | 'kindReason'
  | 'failed'
  | 'failedReason'
  | 'countedAsError'
  | 'failureLine'
  | 'resultText'
  | 'shownLines'
  | 'comparedText'
  | 'comparedLines'
  | 'rules'
>;

function readingOf(call: RunCall, ended: ToolEnded, step: Step): Reading {
  const { args, number, tool } = call;
  const { result, is_error: isError, outcome, result_missing: missing } = ended;
  const raw = { index: number - 1, turn: step.turn, atMs: step.atMs, tool, args, result, isError, outcome };
  const stepAlone = makeStep({ ...raw, resultMissing: missing === true }, {});
  const reading = unwrapResult(result);
  const { answer, printed } = reading;
  const whole = resultText(result);
  const beginningOf = (text: string): string => text.slice(0, TEXT_CHARS).toWellFormed();
  return {
    preview: commandLineOf(args) ?? callText(tool, args),
    kind: step.kind,
    kindReason: kindReason(call, step, stepAlone),
    failed: step.failure !== undefined,
    failedReason: failedReason(ended, step, stepAlone, reading),
    countedAsError: outcomeOf(ended) === 'failed',
    failureLine: step.failure?.line ?? '',
    resultText: beginningOf(whole),
    shownLines: shownLines(printed?.text ?? whole),
    comparedText: beginningOf(answer.masked),
    comparedLines: shownLines(answer.masked),
    rules: answer.rules(),
  };
}

function kindReason({ tool, args }: RunCall, step: Step, stepAlone: Step): string {
  const { kind, program, shell } = readArguments(tool, args, {}).semantics;
  if (step.kind !== stepAlone.kind) return `it checks again after a pause; on its own it would be ${stepAlone.kind}`;
  if (step.kind !== kind) return `by its result; tool and arguments alone would be ${kind}`;
  return shell ? `the shell command runs ${program}` : 'by the name of the tool and its arguments';
}

function failedReason(ended: ToolEnded, step: Step, stepAlone: Step, reading: ResultReading): string {
  if (ended.result_missing === true) return 'its source has no result';
  if (ended.outcome === 'refused') return 'a person or a policy refused it';
  if (ended.outcome === 'cancelled') return 'it was cancelled';
  const { answer, envelopeFailed, printed } = reading;
  const exitCode = printed?.exitCode;
  const flags = [
    ...(ended.is_error
      ? [ended.error_inferred === true ? 'its text reads like a failure' : 'its source flags it']
      : []),
    ...(exitCode === undefined || exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(envelopeFailed ? ['the envelope of its result reports a failure'] : []),
  ];
  const shownFlags = flags.join(', ');
  if (step.failure === undefined) {
    if (stepAlone.failure !== undefined) return 'it waits for a service that is not reachable yet';
    if (flags.length === 0)
      return exitCode === 0 ? 'no flag, and exit code 0' : 'no flag, and its result reports no failure';
    if (step.kind === 'poll' && answer.isPending) return `its result reports pending work (${shownFlags})`;
    if (exitCode === 1 && answer.isEmpty) return `a search without a match is not a failure (${shownFlags})`;
    return `the call expected this result (${shownFlags})`;
  }
  const words = answer.declaresFailure ? 'its result declares a failure' : 'the words of its result report a failure';
  const reason = flags.length === 0 ? words : shownFlags;
  return step.failure.category === stepAlone.failure?.category
    ? reason
    : `${reason}; its error line also occurs in successful output, so it is not the cause`;
}

export function callReadingDocument(reading: ReadCall): Document {
  const { call, calls, checks, countedAsError, failed, failureLine, patterns, run } = reading;
  const countNote =
    failed === countedAsError ? '' : `; ${countedAsError ? 'counted' : 'not counted'} as an error of the run`;
  const shown = drawn(reading.shownLines);
  const compared = drawn(reading.comparedLines);
  const isUnchanged = compared.join('\n') === shown.join('\n');
  const facts: readonly (readonly [string, string])[] = [
    ['kind', `${reading.kind}, ${printableCut(reading.kindReason, LINE_CHARS)}`],
    ['failed', `${failed ? 'yes' : 'no'}, ${reading.failedReason}${countNote}`],
    ...checks.map((check) => ['check', checkText(check, failed)] as const),
    ...(failureLine === '' ? [] : [['line', printableCut(failureLine, LINE_CHARS)] as const]),
    [
      'new',
      `${reading.novel ? 'yes' : 'no'}${reading.beganEpoch ? '; it changes something, so earlier calls no longer count as equal' : ''}`,
    ],
    ['same call and result since the last change', callList(reading.sameCalls)],
    ['same call, another result', callList(reading.sameArguments)],
    ['another call, same result', callList(reading.sameResults)],
  ];
  return {
    title: `${printableCut(run, 80)}, call ${call} of ${calls}`,
    blocks: [
      linesOf([styled('strong', printableCut(reading.preview, COMMAND_CHARS))]),
      linesOf(facts.map(([name, value]) => `${name}: ${value}`)),
      heading(isUnchanged ? 'Result, compared unchanged' : 'Result'),
      { type: 'drawing', lines: shown },
      ...(isUnchanged ? [] : [heading('Compared as'), { type: 'drawing', lines: compared } as const]),
      heading(patterns.length === 0 ? 'Patterns: none' : 'Patterns, as of the end of the run'),
      linesOf(patterns.map(patternText)),
    ],
  };
}

/** The errors of a command are often its last lines. */
function shownLines(text: string): readonly string[] {
  const lines = text.trimEnd().split(/\r?\n/);
  const hidden = lines.length - FIRST_LINES - LAST_LINES;
  const kept = lines.map((line) => line.slice(0, TEXT_CHARS).toWellFormed());
  if (hidden < 2) return kept;
  return [...kept.slice(0, FIRST_LINES), `… ${countOf(hidden, 'line')} …`, ...kept.slice(-LAST_LINES)];
}

function drawn(lines: readonly string[]): readonly string[] {
  if (lines.join('').trim() === '') return ['(empty)'];
  return lines.map((line) => `| ${printableCut(line, LINE_CHARS)}`);
}

/** A check behind a pipe fails by its words, although the exit code of the call is 0. */
function checkText(check: LastCheck, hasCallFailed: boolean): string {
  const byWords = check.failed && !hasCallFailed ? ', as its output says' : '';
  return `${printableCut(check.command, 80)} ${checkResult(check)}${byWords}`;
}

function callList(numbers: readonly number[]): string {
  if (numbers.length === 0) return 'none';
  const shownNumbers = numbers.slice(-SHOWN_CALLS).join(', ');
  return numbers.length > SHOWN_CALLS ? `… ${shownNumbers} (${numbers.length} in all)` : shownNumbers;
}

function patternText({ kind, level, stuck, firstSeen, flaggedAt, clearedAt, evidence }: TrajectoryPattern): string {
  const facts = [
    `${stuck ? 'stuck ' : ''}${inWords('level', level)}: ${printableCut(inWords('pattern', kind), 60)}, from call ${firstSeen + 1}`,
    flaggedAt === null ? 'never more than a hint' : `noticed at call ${flaggedAt + 1}`,
    ...(clearedAt === undefined ? [] : [`over by call ${clearedAt + 1}`]),
    `evidence ${callList(evidence.map((index) => index + 1))}`,
  ];
  return facts.join(', ');
}
