import { slotText } from '../advice/slot-text.ts';
import type { CallFact } from './call-fact.ts';
import { PATTERN_WORDS, type PatternSlots } from '../../records/pattern-words.ts';
import type { AnswerClass, TrajectoryPattern } from '../../records/trajectory-pattern.ts';

/** The advice about a pattern. It consists of fixed sentences with placeholders for counts, a tool name and quotations. */
export interface PatternSentences {
  readonly summary: string;
  readonly suggestions: readonly [string];
}

/** Quotations from the last call of a pattern: fixed texts, or results of `quoted`. */
export interface PatternQuotes {
  /** The tool name, for a pattern without a tool. */
  readonly tool?: string;
  /** The main argument: a command, a path, a query. */
  readonly argument?: string;
  /** The error line, or the beginning of the result. */
  readonly result?: string;
  /** Decides the suggestion, where it is known. */
  readonly fact?: CallFact;
}

const MAX_TOOL_CHARS = 28;
/** Maximum UTF-16 units of a quotation. The longest text has fewer than 300 units with both quotations. */
export const MAX_QUOTE_CHARS: Readonly<Record<'argument' | 'result', number>> = { argument: 40, result: 64 };

/** The suggestion for each class of result. */
const REMEDIES: Readonly<Partial<Record<AnswerClass, string>>> = {
  auth: 'Check which credentials it uses and whether they are valid.',
  permission: 'Use a place or an account that is allowed to do this.',
  'rate-limit': 'Wait as long as the answer asks, then send fewer and larger requests.',
  timeout: 'Run it in the background with its output in a file, or on a smaller part.',
  network: 'Test with one small request whether the address can be reached at all.',
  'missing-program': 'No program has that name: check how the command begins, or use another.',
  validation: 'Compare your arguments with what the tool expects, field by field.',
  usage: 'Read its help text, then change the call accordingly.',
  'not-found': 'Look at what is really there now, then use exactly that name or text.',
  syntax: 'Read the whole place that the error names and rewrite it.',
  done: 'If this step is done, go on; if not, check its effect with a different call.',
  empty: 'If this step is done, go on; if not, check its effect with a different call.',
  silent: 'It printed nothing: check what goes into it, then its exit status and stderr.',
};

/** The suggestion for each fact about the last call. */
export const FACT_REMEDIES: Readonly<Record<CallFact, string>> = {
  comment: 'The whole command is a comment and runs nothing: send the program without it.',
  'foreign-name': 'That name is not in your command: run the part that produces it alone.',
  'missing-module': 'A module is missing: check its name and path, and whether it is installed.',
  'program-message': 'A program in the command reports a problem: correct that part first.',
  rejected: 'Change its name, arguments or form: the task may expect others.',
  'empty-output': 'If an empty result cannot be right, begin with a simpler call that works.',
  'long-call': 'Run a short part of it that works first, then add one part at a time.',
  'known-result': 'It will not change: if it answers the task, finish; if not, change the call.',
};

/** Returns the sentences for a pattern. For a custom kind they only state its name. */
export function patternSentences(pattern: TrajectoryPattern, quotes: PatternQuotes = {}): PatternSentences {
  const patternWords = Object.hasOwn(PATTERN_WORDS, pattern.kind) ? PATTERN_WORDS[pattern.kind] : undefined;
  if (patternWords?.sentences !== undefined) {
    const [summary, suggestion] = patternWords.sentences(fillSlots(pattern, quotes));
    return { summary, suggestions: [suggestion] };
  }
  const kind = slotText(pattern.kind, MAX_TOOL_CHARS);
  return {
    summary: `Your last calls show the pattern ${kind}, seen ${pattern.occurrences} times.`,
    suggestions: ['Step back and consider another approach.'],
  };
}

function fillSlots(
  { tool: name, answer: answerClass, occurrences }: TrajectoryPattern,
  quotes: PatternQuotes,
): PatternSlots {
  const { argument, fact, result } = quotes;
  const tool = slotText(name ?? quotes.tool ?? 'the tool', MAX_TOOL_CHARS);
  return {
    call: argument === undefined ? tool : `${tool} ${argument}`,
    tool,
    count: occurrences,
    answer: result === undefined ? (answerClass === 'empty' ? ': an empty text' : '') : `: ${result}`,
    remedy: fact === undefined ? answerClass && REMEDIES[answerClass] : FACT_REMEDIES[fact],
  };
}
