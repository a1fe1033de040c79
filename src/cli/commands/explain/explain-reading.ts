import { present } from '../../../base/present.ts';
import { readArguments } from '../../../calls/argument-reading.ts';
import type { ErrorCategory } from '../../../calls/error-class.ts';
import { resultText } from '../../../calls/result-text.ts';
import type { ToolKind } from '../../../calls/tool-kind.ts';
import { makeStep, unwrapResult, type ResultReading, type Step } from '../../../patterns/step.ts';
import type { ToolEnded } from '../../../records/trajectory-record.ts';
import type { RunCall } from '../../../run-view/run-call.ts';
import { callText } from '../../runs/call-previews.ts';

/** How a call and its answer were read, whatever stands around them in the run. */
export interface CallReading {
  readonly tool: string;
  /** Tool and arguments, at most 100 characters. */
  readonly preview: string;
  readonly target?: string;
  readonly kind: ToolKind;
  readonly kindReason: string;
  /** Detection takes it as failed. */
  readonly failed: boolean;
  readonly failedReason: string;
  /** It counts among the errors of the run: flagged by its source, or inferred where that has no flag. */
  readonly countedAsError: boolean;
  /** The line that says what failed; empty where none does. */
  readonly failureLine?: string;
  readonly failureClass?: ErrorCategory;
  /** The beginning of the result as it stands on record, and of the text that is compared; 2,000 UTF-16 units at most. */
  readonly resultText: string;
  readonly comparedText: string;
  /** The whole texts are equal. */
  readonly comparedAsItCame: boolean;
  /** More is left out of the comparison than what the compared text masks: ids, numbers or an echo of the call. */
  readonly comparedWithLess: boolean;
  /** Ids of the reading rules that hold of its answer, and of those that mask a part of it. */
  readonly rules: readonly string[];
}

const TEXT_CHARS = 2_000;

/** @param step  of the call, as the detectors saw it */
export function explainReading(call: RunCall, ended: ToolEnded, step: Step): CallReading {
  const { args, number, tool } = call;
  const { result, is_error: isError, result_missing: missing } = ended;
  const resultMissing = missing === true;
  const raw = { index: number - 1, turn: step.turn, atMs: step.atMs, tool, args, result, isError, resultMissing };
  const alone = makeStep(raw, {});
  const reading = unwrapResult(result);
  const { answer } = reading;
  const text = typeof result === 'string' ? result : resultText(result);
  return {
    tool,
    preview: callText(tool, args),
    ...present({ target: step.target }),
    kind: step.kind,
    kindReason: kindReason(call, step, alone),
    failed: step.failure !== undefined,
    failedReason: failedReason(ended, step, alone, reading),
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

/** @param alone  the step without what came before it in the run */
function kindReason({ tool, args }: RunCall, step: Step, alone: Step): string {
  const { kind, program, shell } = readArguments(tool, args, {}).semantics;
  if (step.kind !== alone.kind) return `it looks again after a pause; by itself it reads as ${alone.kind}`;
  if (step.kind !== kind) return `its answer says so; tool and arguments alone read as ${kind}`;
  return shell ? `the shell command runs ${program}` : 'by the name of the tool and its arguments';
}

function failedReason(ended: ToolEnded, step: Step, alone: Step, reading: ResultReading): string {
  if (ended.result_missing === true) return 'its source holds no result';
  const { answer, envelopeFailed, printed } = reading;
  const exitCode = printed?.exitCode;
  const flags = [
    ...(ended.is_error
      ? [ended.error_inferred === true ? 'its text reads like a failure' : 'its source flags it']
      : []),
    ...(exitCode === undefined || exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(envelopeFailed ? ['the envelope around its answer says so'] : []),
  ];
  const shownFlags = flags.join(', ');
  if (step.failure === undefined) {
    if (alone.failure !== undefined) return 'after a pause, a service that cannot be reached yet is waited for';
    if (flags.length === 0)
      return exitCode === 0 ? 'no flag, and exit code 0' : 'no flag, and its answer tells of no failure';
    if (step.kind === 'poll' && answer.isPending) return `its answer says that something is pending (${shownFlags})`;
    if (exitCode === 1 && answer.isEmpty) return `a look that finds nothing is no failure (${shownFlags})`;
    return `the call foretold this answer (${shownFlags})`;
  }
  const words = answer.declaresFailure ? 'its answer declares a failure' : 'the words of its answer tell of a failure';
  const reason = flags.length === 0 ? words : shownFlags;
  return step.failure.category === alone.failure?.category
    ? reason
    : `${reason}; its line also stands in output that ended well, so it names no cause`;
}
