import { present } from '../../../base/present.ts';
import { readArguments } from '../../../calls/argument-reading.ts';
import type { ErrorCategory } from '../../../calls/error-class.ts';
import { resultText } from '../../../calls/result-text.ts';
import type { ToolKind } from '../../../calls/tool-kind.ts';
import { makeStep, unwrapResult, type ResultReading, type Step } from '../../../patterns/step.ts';
import type { ToolEnded } from '../../../records/trajectory-record.ts';
import type { RunCall } from '../../../run-view/run-call.ts';
import { callText } from '../../runs/call-previews.ts';

/** The classification of a call and its result, independent of the rest of the run. */
export interface CallReading {
  readonly tool: string;
  /** Tool and arguments, truncated to 100 characters. */
  readonly preview: string;
  readonly target?: string;
  readonly kind: ToolKind;
  readonly kindReason: string;
  /** True if detectors treat the call as failed. */
  readonly failed: boolean;
  readonly failedReason: string;
  /** True if the run counts the call as an error. The source flags it, or it is inferred if the source has no flags. */
  readonly countedAsError: boolean;
  /** The error line; empty without an error line. */
  readonly failureLine?: string;
  readonly failureClass?: ErrorCategory;
  /** The start of the recorded result and of the compared text, at most 2,000 UTF-16 code units each. */
  readonly resultText: string;
  readonly comparedText: string;
  /** True if the compared text equals the whole result. */
  readonly comparedAsItCame: boolean;
  /** True if the comparison also ignores parts of `comparedText`: ids, numbers or repeated arguments. */
  readonly comparedWithLess: boolean;
  /** Ids of the reading rules that match the result or mask a part of it. */
  readonly rules: readonly string[];
}

const TEXT_CHARS = 2_000;

/** @param step  the call in the form that the detectors receive */
export function explainReading(call: RunCall, ended: ToolEnded, step: Step): CallReading {
  const { args, number, tool } = call;
  const { result, is_error: isError, result_missing: missing } = ended;
  const resultMissing = missing === true;
  const raw = { index: number - 1, turn: step.turn, atMs: step.atMs, tool, args, result, isError, resultMissing };
  const stepAlone = makeStep(raw, {});
  const reading = unwrapResult(result);
  const { answer } = reading;
  const text = typeof result === 'string' ? result : resultText(result);
  return {
    tool,
    preview: callText(tool, args),
    ...present({ target: step.target }),
    kind: step.kind,
    kindReason: kindReason(call, step, stepAlone),
    failed: step.failure !== undefined,
    failedReason: failedReason(ended, step, stepAlone, reading),
    countedAsError: isError,
    ...present({ failureLine: step.failure?.line, failureClass: step.failure?.category }),
    resultText: beginningOf(text),
    comparedText: beginningOf(answer.masked),
    comparedAsItCame: text === answer.masked,
    comparedWithLess: ![answer.keyOf(false), answer.keyOf(true)].includes(step.resultKey),
    rules: answer.rules(),
  };
}

function beginningOf(text: string): string {
  return text.slice(0, TEXT_CHARS).toWellFormed();
}

/** @param stepAlone  the step without the context of the run */
function kindReason({ tool, args }: RunCall, step: Step, stepAlone: Step): string {
  const { kind, program, shell } = readArguments(tool, args, {}).semantics;
  if (step.kind !== stepAlone.kind) return `it checks again after a pause; on its own it would be ${stepAlone.kind}`;
  if (step.kind !== kind) return `by its result; tool and arguments alone would be ${kind}`;
  return shell ? `the shell command runs ${program}` : 'by the name of the tool and its arguments';
}

function failedReason(ended: ToolEnded, step: Step, stepAlone: Step, reading: ResultReading): string {
  if (ended.result_missing === true) return 'its source has no result';
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
