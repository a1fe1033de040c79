import { callNumber } from '../../base/call-number.ts';
import type { AnswerClass, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import { PATTERN_WORDS } from '../../records/pattern-words.ts';
import type { CallFact } from './call-fact.ts';

/** The advice about a pattern: fixed sentences with counts, call numbers, and words from closed lists. */
export interface PatternSentences {
  readonly summary: string;
  readonly suggestions: readonly [string];
}

/** What is known about the last call of a pattern. */
export interface LastCall {
  /** A result of `toolWords`. */
  readonly tool?: string;
  /** A program for which `isListedProgram` returns true. */
  readonly program?: string;
  /** The class of its result, for a pattern without one. */
  readonly answer?: AnswerClass;
  /** Decides the suggestion. */
  readonly fact?: CallFact;
}

/** The words for each class of result. `fix` is the suggestion; without one, the kind of the pattern decides. */
export const CLASS_WORDS: Readonly<Record<AnswerClass, { readonly name: string; readonly fix?: string }>> = {
  content: { name: 'output' },
  empty: {
    name: 'empty result',
    fix: 'If this step is done, go on; if not, check its effect with a different call.',
  },
  done: {
    name: 'bare confirmation',
    fix: 'If this step is done, go on; if not, check its effect with a different call.',
  },
  auth: { name: 'authentication error', fix: 'Check which credentials it uses and whether they are valid.' },
  permission: { name: 'permission error', fix: 'Check what you may use here; without it, say so and do the rest.' },
  'rate-limit': { name: 'rate limit', fix: 'Wait longer before each call, and send fewer and larger requests.' },
  timeout: { name: 'timeout', fix: 'Run it in the background with its output in a file, or on a smaller part.' },
  network: { name: 'network error', fix: 'Test with one small request whether the address can be reached at all.' },
  'missing-program': {
    name: 'missing program',
    fix: 'No program has that name: check how the command begins, or use another.',
  },
  validation: {
    name: 'argument error',
    fix: "Compare your arguments with the tool's declared schema, field by field.",
  },
  usage: { name: 'usage error', fix: 'Compare your options with those that the program documents.' },
  'not-found': { name: 'not-found error', fix: 'List what exists there, then compare your name or text with it.' },
  syntax: { name: 'syntax error', fix: 'Check the whole statement that you wrote, not one line, and write it again.' },
  other: { name: 'error' },
  silent: {
    name: 'failure without output',
    fix: 'It printed nothing: check what goes into it, then its exit status and stderr.',
  },
};

/** The suggestion for each fact about the last call. */
export const FACT_REMEDIES: Readonly<Record<CallFact, string>> = {
  comment: 'The whole command is a comment and runs nothing: send the program without it.',
  'foreign-name': 'The missing name is not in your command: run the part that produces it alone.',
  'missing-module': "A module is missing: compare its name with the project's declared dependencies.",
  'program-message': 'A program in the command may have failed: run each part of it alone.',
  rejected: 'Change the name, arguments or form that you sent: the task may expect others.',
  'empty-output': 'If an empty result cannot be right, begin with a simpler call that works.',
  'long-call': 'Run a short part of it that works first, then add one part at a time.',
  'known-result': 'The result will not change: if it answers the task, finish; if not, change the call.',
};

/** Facts that name the result better than its class. */
const FACT_RESULTS: Readonly<Partial<Record<CallFact, string>>> = {
  'missing-module': 'missing module',
  rejected: 'rejection',
};

const KIND_NAME = /^[a-z]\w{0,27}$/;

/** Returns the sentences for a pattern. For a custom kind they only state its name, which its detector declares. */
export function patternSentences(pattern: TrajectoryPattern, lastCall: LastCall = {}): PatternSentences {
  const { evidence, firstSeen, kind, occurrences: count } = pattern;
  const calls = callRange(evidence.length === 0 ? [firstSeen] : evidence);
  const words = Object.hasOwn(PATTERN_WORDS, kind) ? PATTERN_WORDS[kind] : undefined;
  if (words?.sentences === undefined) {
    const name = KIND_NAME.test(kind) ? ` ${kind}` : '';
    return {
      summary: `Your last calls show the pattern${name}, seen ${count} times (${calls}).`,
      suggestions: ['Step back and consider another approach.'],
    };
  }
  const { answer = pattern.answer, fact, program, tool = 'one tool' } = lastCall;
  const call = program === undefined || program === tool ? tool : `${tool} (${program})`;
  const { fix, name } = answer === undefined ? { name: 'result' } : CLASS_WORDS[answer];
  const result = (fact && FACT_RESULTS[fact]) ?? name;
  const [summary, suggestion] = words.sentences({
    tool,
    call,
    count,
    calls,
    result,
    last: answer === undefined ? call : `${call}, ${result}`,
    remedy: fact === undefined ? fix : FACT_REMEDIES[fact],
  });
  return { summary, suggestions: [suggestion] };
}

/** Returns `call 4`, `calls 4 and 9` or `calls 4 to 9`. */
function callRange(evidence: readonly number[]): string {
  const [first, last] = [evidence[0] ?? 0, evidence.at(-1) ?? 0].map(callNumber);
  return first === last ? `call ${first}` : `calls ${first} ${evidence.length === 2 ? 'and' : 'to'} ${last}`;
}
