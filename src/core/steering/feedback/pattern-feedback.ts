import { present, isJsonObject } from '../../base/json.ts';
import { commandLineOf } from '../../facts/check-command.ts';
import { classifyError, namesFailure } from '../../detect/calls/error-class.ts';
import { isListedProgram } from '../../detect/calls/shell-program.ts';
import { readCall } from '../../detect/calls/tool-semantics.ts';
import { toolWords } from '../tool-words.ts';
import { severityOfLevel, levelRank } from '../advice/advice.ts';
import type { PatternLevel, TrajectoryPattern, AnswerClass } from '../../records/trajectory-pattern.ts';
import type { FeedbackContext, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { argsOf } from '../prompt/prompt-calls.ts';
import type { ToolInvoked } from '../../session/tool-invoked.ts';
import { choiceOf } from '../../base/shape.ts';
import { CHOICES } from '../../records/shapes.ts';
import type { TriggerPatternProvider } from './speaker.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import { hashText } from '../../base/hash.ts';
import { answerMatches } from '../../detect/calls/answer-rules.ts';
import type { RecentCall } from '../../detect/patterns/pattern-detector.ts';
import { callNumber } from '../../base/number-text.ts';
import { PATTERN_WORDS } from '../../records/pattern-words.ts';

/** Options of `driftFeedback`, `errorCascadeFeedback` and `stallFeedback`. */
export interface PatternSpeakerOptions {
  /** Minimum level of the pattern; default `warn`, for `drift` `hint`. */
  readonly level?: PatternLevel;
}

interface PatternTexts {
  readonly name: string;
  readonly kind: string;
  readonly summary: string;
  readonly observation: (pattern: TrajectoryPattern) => string;
  readonly suggestions: readonly string[];
  /** Default minimum level of the pattern. Default: `warn`. */
  readonly from?: PatternLevel;
}

function definePatternFeedback(texts: PatternTexts): ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> {
  const { from = 'warn', kind, name, suggestions, summary } = texts;
  return defineProvider<PatternSpeakerOptions, FeedbackProvider>(
    { level: choiceOf(CHOICES.level, from) },
    ({ level }): FeedbackProvider => {
      const selection = { kind, level };
      return {
        name,
        defaultTrigger: { onPattern: selection },
        shouldRun: (context) => selectPattern(context, selection) !== undefined,
        provide(context) {
          const pattern = selectPattern(context, selection);
          if (pattern === undefined) return { summary: 'The pattern has ended.' };
          const { identity, occurrences } = pattern;
          return {
            summary,
            severity: severityOfLevel(pattern.level),
            observations: [
              { category: kind, description: texts.observation(pattern), evidence: patternEvidence(pattern) },
            ],
            suggestions,
            pattern: { identity, level: pattern.level, occurrences },
          };
        },
      };
    },
  );
}

const MAX_NAMED_CALLS = 8;

function patternEvidence({ evidence, firstSeen, occurrences }: TrajectoryPattern): string {
  const namedCalls = evidence.slice(-MAX_NAMED_CALLS).join(', ');
  return `tool calls ${namedCalls === '' ? firstSeen : namedCalls} (0-based); ${occurrences} in all`;
}

/** Returns the pattern that fired the trigger, else the strongest open pattern. */
function selectPattern(
  { triggerPattern, trajectory }: FeedbackContext,
  selection: { readonly kind: string; readonly level: PatternLevel },
): TrajectoryPattern | undefined {
  const matches = ({ kind, level }: TrajectoryPattern): boolean =>
    kind === selection.kind && levelRank(level) >= levelRank(selection.level);
  if (triggerPattern !== undefined && matches(triggerPattern)) return triggerPattern;
  return trajectory
    ?.openPatterns()
    .filter(matches)
    .toSorted((a, b) => levelRank(b.level) - levelRank(a.level))[0];
}

/** About a `drift` from the task. None without a trajectory. Default trigger: `onPattern`, once per level. */
export const driftFeedback: ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> = definePatternFeedback({
  name: 'Drift',
  kind: 'drift',
  from: 'hint',
  summary: 'Your recent tool calls have little to do with the task as it was stated.',
  observation: ({ occurrences }) => `${occurrences} tool calls in a row touch none of the task's subjects.`,
  suggestions: ['Read the task again and say how the current work serves it.', 'If it does not, return to the task.'],
});

/** None without a trajectory. Default trigger: `onPattern`, once per level. */
export const errorCascadeFeedback: ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> = definePatternFeedback({
  name: 'ErrorCascade',
  kind: 'error_cascade',
  summary: 'Your recent steps keep failing.',
  observation: ({ occurrences }) => `${occurrences} steps in a row ended in an error.`,
  suggestions: [
    'Stop and look for one cause behind these errors.',
    'Check the assumption that the failing steps share before you try another one.',
  ],
});

/** Gives feedback about a `stall`. It gives no feedback without a trajectory. Default trigger: `onPattern`, once per level. */
export const stallFeedback: ProviderDefinition<PatternSpeakerOptions, FeedbackProvider> = definePatternFeedback({
  name: 'Stall',
  kind: 'stall',
  summary: 'Your recent tool calls have brought nothing new.',
  observation: ({ occurrences }) => `${occurrences} tool calls since the last new result or change.`,
  suggestions: ['Write down what is still missing for the goal.', 'Take a step you have not tried yet.'],
});

interface PatternSentences {
  readonly summary: string;
  readonly suggestions: readonly [string];
}

interface LastCall {
  readonly tool?: string;
  /** A program for which `isListedProgram` returns true. */
  readonly program?: string;
  readonly answer?: AnswerClass;
  readonly fact?: CallFact;
  /** The texts of the results differ, or are not all known: only what is compared of them is equal. */
  readonly differs?: boolean;
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
  timeout: { name: 'timeout', fix: 'Ask for a smaller part of it, or say that it does not answer in time.' },
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

export const FACT_REMEDIES: Readonly<Record<CallFact, string>> = {
  comment: 'The whole command is a comment and runs nothing: send the program without it.',
  'foreign-name': 'The missing name is not in your command: run the part that produces it alone.',
  'missing-module': "A module is missing: compare its name with the project's declared dependencies.",
  'program-message': 'A program in the command may have failed: run each part of it alone.',
  rejected: 'Change the name, arguments or form that you sent: the task may expect others.',
  'empty-output': 'If an empty result cannot be right, begin with a simpler call that works.',
  'long-call': 'Run a short part of it that works first, then add one part at a time.',
  'known-result': 'If the result answers the task, finish; if not, change the call.',
  'slow-command': 'Run it in the background with its output in a file, or on a smaller part.',
};

const FACT_RESULTS: Readonly<Partial<Record<CallFact, string>>> = {
  'missing-module': 'missing module',
  rejected: 'rejection',
};

const KIND_NAME = /^[a-z]\w{0,27}$/;

/** Returns the sentences for a pattern. For a custom kind they only state its name, which its detector declares. */
export function patternSentences(pattern: TrajectoryPattern, lastCall: LastCall = {}): PatternSentences {
  const { evidence, firstSeen, kind, occurrences: count } = pattern;
  const range = callRange(evidence.length === 0 ? [firstSeen] : evidence);
  // A pattern that went on after a change knows the last of its calls only.
  const calls = evidence.length > 1 && evidence.length < count ? `the last: ${range}` : range;
  const words = Object.hasOwn(PATTERN_WORDS, kind) ? PATTERN_WORDS[kind] : undefined;
  if (words?.sentences === undefined) {
    const name = KIND_NAME.test(kind) ? ` ${kind}` : '';
    return {
      summary: `Your last calls show the pattern${name}, seen ${count} times (${calls}).`,
      suggestions: ['Step back and consider another approach.'],
    };
  }
  const { answer = pattern.answer, differs, fact, program, tool = 'one tool' } = lastCall;
  const call = program === undefined || program === tool ? tool : `${tool} (${program})`;
  // A name has no blank.
  const isNamed = !tool.includes(' ');
  const { fix, name } = answer === undefined ? { name: 'result' } : CLASS_WORDS[answer];
  const result = (fact && FACT_RESULTS[fact]) ?? name;
  const [summary, suggestion] = words.sentences({
    tool,
    of: isNamed ? ` of ${call}` : '',
    count,
    calls,
    result,
    same: `the same ${result}${differs === true ? ' apart from times and ids' : ''}`,
    last: lastWords(isNamed ? call : undefined, answer && result),
    remedy: fact === undefined ? fix : FACT_REMEDIES[fact],
  });
  return { summary, suggestions: [suggestion] };
}

function lastWords(call: string | undefined, result: string | undefined): string {
  if (call === undefined) return result === undefined ? '' : ` Last result: ${result}.`;
  return ` Last call: ${result === undefined ? call : `${call}, ${result}`}.`;
}

/** Returns `call 4`, `calls 4 and 9` or `calls 4 to 9`. */
function callRange(evidence: readonly number[]): string {
  const [first, last] = [evidence[0] ?? 0, evidence.at(-1) ?? 0].map(callNumber);
  return first === last ? `call ${first}` : `calls ${first} ${evidence.length === 2 ? 'and' : 'to'} ${last}`;
}

/**
 * `comment`: a command that is a comment; `foreign-name`: an earlier part of the command produced the missing name;
 * `missing-module`: a program runs without a module that it needs; `program-message`: a pipeline's result has a message
 * of one of its programs; `rejected`: an unnamed requirement is not met; `empty-output`: a call that changes nothing
 * returned nothing; `long-call`: a syntax error in over 512 characters; `known-result`: the content of something that
 * was read; `slow-command`: a time-out of a shell command.
 */
type CallFact =
  | 'comment'
  | 'foreign-name'
  | 'missing-module'
  | 'program-message'
  | 'rejected'
  | 'empty-output'
  | 'long-call'
  | 'known-result'
  | 'slow-command';

const EARLIER_PART = /[|`]|\$\(|-exec/;
const QUOTED_NAME = /['"`‘]([^'"`‘’\s~]+)['"`’]/;
const PROGRAM_MESSAGE = /^(?:\S*\/)?([\w.-]+): (?:\S+: )?[^\d\s]/gm;

/**
 * @param command  the command, or the main argument
 * @param answer  the class of the result, as the pattern has it
 */
function callFactOf(
  invoked: ToolInvoked,
  command: string,
  { answer, call }: { readonly answer: AnswerClass | undefined; readonly call: RecentCall },
): CallFact | undefined {
  const { resultPreview: result, resultChars } = invoked;
  const { errorLine = '', kind } = call;
  if (kind === 'note' && command.trimStart().startsWith('#')) return 'comment';
  const isComplete = hashText(invoked.paramsPreview) === invoked.paramsHash;
  switch (answer) {
    case 'empty':
      return kind === 'write' ? undefined : 'empty-output';
    case 'syntax':
      return isComplete ? undefined : 'long-call';
    case 'timeout':
      return isShell(invoked) ? 'slow-command' : undefined;
    case 'other':
      return answerMatches('refuses', errorLine) ? 'rejected' : undefined;
    case 'missing-program':
      return /\bmodule\b/i.test(errorLine) ? 'missing-module' : undefined;
    case 'not-found':
      return isComplete && isShell(invoked) && isProducedName(errorLine, command) ? 'foreign-name' : undefined;
    case 'content': {
      if (hasProgramMessage(result, command) && isShell(invoked)) return 'program-message';
      if (kind === 'read') return 'known-result';
      // A count of zero is an answer, and no requirement that the call does not meet.
      const isRejection =
        resultChars === undefined && (namesFailure(result) || answerMatches('none', result.replaceAll(/\b0\b/g, '')));
      return isRejection && /[a-z]{3}/i.test(result) ? 'rejected' : undefined;
    }
    default:
      return undefined;
  }
}

function isShell(invoked: ToolInvoked): boolean {
  return readCall(invoked.name, argsOf(invoked)).shell;
}

function isProducedName(errorLine: string, command: string): boolean {
  const name = QUOTED_NAME.exec(errorLine)?.[1]
    ?.split('/')
    .findLast((part) => part !== '');
  return name !== undefined && EARLIER_PART.test(command) && !command.includes(name);
}

/** Returns true if a program of a pipeline prints a message that does not pass through the pipeline. */
function hasProgramMessage(result: string, command: string): boolean {
  if (!command.includes('|') || answerMatches('noChange', result)) return false;
  return Array.from(result.matchAll(PROGRAM_MESSAGE)).some(([, name = '']) => runsProgram(command, name));
}

function runsProgram(command: string, program: string): boolean {
  const index = command.indexOf(program);
  const [textBefore, textAfter] = [command.slice(0, index), command.slice(index + program.length)];
  return index >= 0 && /(?:^|[|;&([]|xargs|-exec)\s*(?:\S*\/)?$/.test(textBefore) && /^(?:\s|$)/.test(textAfter);
}

export interface PatternFeedbackOptions {
  /** Minimum level; default `warn`. */
  readonly level?: Exclude<PatternLevel, 'hint'>;
}

const LOOK_BACK = 64;

/**
 * Describes the loop in which the agent is stuck: its calls, their count, the class of the result, and one suggestion. The text
 * contains no character of a call, a result or a server. It gives no feedback without a trajectory. For patterns of inefficiency,
 * configure a trigger that selects them. Default trigger: `onPattern` for stuck patterns, once per level.
 */
export const patternFeedback: ProviderDefinition<PatternFeedbackOptions, FeedbackProvider> = defineProvider(
  { level: choiceOf(['warn', 'strong'], 'warn') },
  ({ level }): TriggerPatternProvider => ({
    name: 'Pattern',
    refersToTriggerPattern: true,
    defaultTrigger: { onPattern: { stuck: true, level } },
    shouldRun: (context) => findPattern(context, level) !== undefined,
    provide: (context) => {
      const pattern = findPattern(context, level);
      if (pattern === undefined) return { summary: 'The pattern has ended.' };
      const { identity, level: patternLevel, occurrences } = pattern;
      return {
        ...patternSentences(pattern, describeLastCall(pattern, context)),
        severity: severityOfLevel(patternLevel),
        pattern: { identity, level: patternLevel, occurrences },
      };
    },
  }),
);

/** With another trigger, the strongest stuck pattern, and among several the last one flagged. */
function findPattern(context: FeedbackContext, level: PatternLevel): TrajectoryPattern | undefined {
  const { trajectory, triggerPattern } = context;
  if (triggerPattern !== undefined) return triggerPattern;
  const matches = (pattern: TrajectoryPattern): boolean =>
    pattern.stuck && pattern.flaggedAt !== null && (level === 'warn' || pattern.level === 'strong');
  return trajectory
    ?.openPatterns()
    .filter(matches)
    .toSorted((a, b) => Number(b.level === 'strong') - Number(a.level === 'strong') || flaggedAt(b) - flaggedAt(a))[0];
}

function flaggedAt(pattern: TrajectoryPattern): number {
  return pattern.flaggedAt ?? -1;
}

function describeLastCall({ answer, evidence, tool }: TrajectoryPattern, context: FeedbackContext): LastCall {
  const { trajectory } = context;
  const index = evidence.at(-1);
  const seen = context.recentToolCalls(LOOK_BACK).filter(({ callIndex }) => evidence.includes(callIndex));
  const invoked = seen.find(({ callIndex }) => callIndex === index);
  const name = tool ?? invoked?.name;
  const toolName = present({
    tool: name === undefined ? undefined : toolWords(name, trajectory?.tools),
    differs: seen.length < evidence.length || new Set(seen.map(textOf)).size > 1 || undefined,
  });
  if (invoked === undefined || invoked.name !== name) return toolName;
  // The analysis read the whole result. The session contains only its beginning and end.
  const { program } = readCall(invoked.name, argsOf(invoked));
  const call = trajectory?.recentCalls(LOOK_BACK).findLast((recent) => recent.index === index);
  return {
    ...toolName,
    ...present({
      program: isListedProgram(program) ? program : undefined,
      answer: answer ?? (call?.errorLine === undefined ? undefined : classifyError(call.errorLine).category),
      fact: call && callFactOf(invoked, commandOf(invoked), { answer, call }),
    }),
  };
}

/** In `structureOnly` mode, texts that differ in times and ids only have one fingerprint. */
function textOf({ callIndex, resultHash, resultPreview }: ToolInvoked): string {
  return /\btext_\d+_/.test(resultPreview) ? `call ${callIndex}` : resultHash;
}

function commandOf(invoked: ToolInvoked): string {
  const args = argsOf(invoked);
  if (typeof args === 'string') return args;
  const firstText = isJsonObject(args) ? Object.values(args).find((value) => typeof value === 'string') : undefined;
  return commandLineOf(args) ?? firstText ?? '';
}
