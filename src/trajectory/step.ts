import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import type { Json } from '../base/json.ts';
import { loopArgs, progressOf } from './declared-keys.ts';
import { classifyError, type ErrorClass } from './error-class.ts';
import { inferIsError } from './infer-error.ts';
import { lightMask } from './mask.ts';
import { isAcknowledgement, isPending, resultText, saysActed, saysUnchanged } from './result-text.ts';
import { tokensOf } from './tokens.ts';
import type { ToolKind } from './tool-kind.ts';
import { readCall, type ToolDeclarations } from './tool-semantics.ts';

/** A call joined to its result, reduced to what detection needs: keys, kinds and small facts, never the content. */
export interface Step {
  /** 0-based index of the call in its run. */
  readonly index: number;
  /** Number of the turn that issued it. Calls of one turn were issued together. */
  readonly turn: number;
  /** Unix milliseconds when the result came; 0 where unknown. */
  readonly atMs: number;
  readonly tool: string;
  /** The tool, or for a shell call the program it runs. */
  readonly program: string;
  readonly kind: ToolKind;
  /** Neither progress nor repetition: a thought, a pause. Counts as if it were not there. */
  readonly transparent: boolean;
  /** Equal for calls of one tool with equal arguments, whatever the order of keys. */
  readonly argsKey: string;
  /** Equal for results that differ only in times and ids. */
  readonly resultKey: string;
  /** Tool, arguments and result together. */
  readonly callKey: string;
  /** Hashes of the words of the arguments, ascending, 64 at most, for similarity. */
  readonly tokens: readonly number[];
  /** Set when the call failed, whether flagged, inferred, or told only by its text (`soft`). */
  readonly failure?: ErrorClass & { readonly soft: boolean };
  /** The answer only says "done". */
  readonly acknowledged: boolean;
  /** For a write: the answer says that nothing was changed. */
  readonly unchanged: boolean;
  readonly resultChars: number;
  /** What the call is about, where an argument names it. */
  readonly target?: string;
  /** For a write: a key of the state it leaves the target in. */
  readonly leavesKey?: string;
  /** For a replacement: a key of the state it starts from. */
  readonly fromKey?: string;
  /** The source holds no result for it. */
  readonly resultMissing: boolean;
}

/** A call and its result as they stand in the records. */
export interface RawCall {
  readonly index: number;
  readonly turn: number;
  readonly atMs: number;
  readonly tool: string;
  readonly args: Json;
  readonly result: Json;
  readonly isError: boolean;
  readonly resultMissing: boolean;
}

/**
 * Makes the step of a call.
 *
 * Cost: a few linear passes over arguments and result; nothing of either is kept.
 */
export function makeStep(call: RawCall, declarations: ToolDeclarations): Step {
  const semantics = readCall(call.tool, call.args, declarations);
  const declaration = Object.hasOwn(declarations, call.tool) ? declarations[call.tool] : undefined;
  const argsText = canonicalJson(loopArgs(call.args, declaration));
  const text = resultText(call.result);
  // `gh pr checks` exits with a failure while it says that checks are pending.
  const waits = semantics.kind === 'poll' && isPending(text);
  const failure = waits ? undefined : failureOf(call, text);
  const argsKey = hashText(`${call.tool}\n${semantics.shell ? squeezeSpaces(argsText) : argsText}`);
  const progress = progressOf(call.result, declaration);
  const resultKey = hashText(progress === undefined ? lightMask(text) : canonicalJson(progress), call.isError ? 1 : 0);
  const acted = (semantics.kind === 'ui' || semantics.kind === 'unknown') && saysActed(text);
  const acknowledged = failure === undefined && (acted || isAcknowledgement(text));
  // Only such a call can be a poll by its answer.
  const asks = semantics.shell ? REMOTE_PROGRAMS.has(semantics.program) : true;
  const pollable = failure === undefined && asks && semantics.kind !== 'write';
  const kind = pollable && isPending(text) ? 'poll' : acted ? 'ui' : semantics.kind;
  const finalKind = kind === 'unknown' && acknowledged && text.trim() !== '' ? 'write' : kind;
  const step: OwnStep = {
    index: call.index,
    turn: call.turn,
    atMs: call.atMs,
    tool: call.tool,
    program: semantics.program,
    kind: finalKind,
    transparent: kind === 'note' || kind === 'wait',
    argsKey,
    resultKey,
    callKey: hashText(argsKey + resultKey),
    tokens: tokensOf(argsText),
    acknowledged,
    unchanged: finalKind === 'write' && saysUnchanged(text),
    resultChars: text.length,
    resultMissing: call.resultMissing,
  };
  if (failure !== undefined) step.failure = failure;
  if (semantics.target !== undefined) step.target = semantics.target;
  if (semantics.content !== undefined) {
    step.leavesKey = hashText(semantics.content);
  } else if (semantics.replaces !== undefined) {
    step.leavesKey = hashText(semantics.replaces.after);
    step.fromKey = hashText(semantics.replaces.before);
  }
  return step;
}

/** Programs that ask another machine. What a local one prints may hold any word. */
const REMOTE_PROGRAMS = new Set(['curl', 'wget', 'http', 'aws', 'gcloud', 'az', 'gh', 'kubectl', 'docker']);

/** A step while it is made. */
type OwnStep = { -readonly [Name in keyof Step]: Step[Name] };

function failureOf(call: RawCall, text: string): Step['failure'] {
  if (call.resultMissing) return undefined;
  if (call.isError) return { ...classifyError(text), soft: false };
  const isSoft = inferIsError(text) || saysFailureSoftly(text.slice(0, SOFT_CHARS));
  return isSoft ? { ...classifyError(text), soft: true } : undefined;
}

/** Failures that a tool hands over as an ordinary answer. */
const SOFT_FAILURE = /^\s*(?:40[0-9]|429|50[0-4])\b[ :-]+[A-Z]|^\s*(?:wrong|invalid|incorrect)\b[^\n]{0,60}[!.]?\s*$/i;
const SOFT_ABSENCE = 'does not exist';
const SOFT_CHARS = 200;

function saysFailureSoftly(head: string): boolean {
  return head.toLowerCase().includes(SOFT_ABSENCE) || SOFT_FAILURE.test(head);
}

/** Runs of blanks in a one-line command mean nothing; inside quotations they may, which costs only precision of equality. */
function squeezeSpaces(text: string): string {
  if (text.includes('\\n') || !(text.includes('  ') || text.includes(' "'))) return text;
  return text.replace(/ +/g, ' ').replace(/ "/g, '"');
}
