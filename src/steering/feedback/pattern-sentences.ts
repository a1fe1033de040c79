import { slotText } from '../advice/slot-text.ts';
import type { AnswerClass, TrajectoryPattern } from '../../records/trajectory-pattern.ts';

/** What is said about a pattern: fixed sentences whose slots are a tool's name, what it was called for, and counts. */
export interface PatternSentences {
  readonly summary: string;
  /** One concrete alternative, or two. */
  readonly suggestions: readonly string[];
}

/** What the sentences are made of. */
interface Slots {
  /** `bash (make)`, `read_file (src/a.ts)`: the tool and what it was called for. */
  readonly call: string;
  /** The tool alone. */
  readonly tool: string;
  readonly count: number;
  /** What the calls came back with, as the end of a sentence about them. */
  readonly outcome: string;
  /** What to do about such an outcome; undefined where the kind of pattern says more. */
  readonly remedy: string | undefined;
}

type Sentences = (slots: Slots) => PatternSentences;

const MAX_TOOL_CHARS = 64;
const MAX_SUBJECT_CHARS = 48;

/** `each time …`: how the calls of a pattern ended. */
const OUTCOMES: Readonly<Record<AnswerClass, string>> = {
  content: 'its result has not changed',
  empty: 'it came back empty each time',
  done: 'each time it only said that it was done',
  auth: 'each time it was not let in',
  permission: 'each time it was not permitted',
  'rate-limit': 'each time it met the rate limit',
  timeout: 'each time it ran out of time',
  network: 'each time it did not get through',
  'missing-program': 'each time a program or module was missing',
  validation: 'each time its arguments were refused',
  usage: 'each time it was called wrongly',
  'not-found': 'each time what it asked for was not there',
  syntax: 'each time it met a syntax error',
  other: 'each time it failed in the same way',
  silent: 'each time it failed without a word',
};

/** One way out for each cause of failure. */
const REMEDIES: Readonly<Partial<Record<AnswerClass, string>>> = {
  auth: 'Find out which credentials it uses and whether they are valid.',
  permission: 'Use a place or an account that is allowed to do it.',
  'rate-limit': 'Wait as long as the answer asks for, or ask for more at once and less often.',
  timeout: 'Run it in the background with its output in a file, or on a smaller part of the work.',
  network: 'Test with one small request whether the address can be reached at all.',
  'missing-program': 'List what is installed and use that, or install what is missing before the next attempt.',
  validation: 'Read what the tool expects, and begin with the smallest call that is valid.',
  usage: 'Read its help text first, then make the call once as it says.',
  'not-found': 'List what is there before you name it again.',
  syntax: 'Read the whole place the error names with the lines around it, and write that part anew.',
  silent: 'Make it say more: print its exit status and what it wrote to stderr.',
  empty: 'Check that what you ask about exists where you look for it.',
};

const GENERAL = 'If the cause is out of your reach, go on without it and say so in your answer.';

const BY_KIND: Readonly<Record<string, Sentences>> = {
  identical_call: ({ call, count, outcome, remedy }) => ({
    summary: `You have made the same call to ${call} ${count} times, and ${outcome}.`,
    suggestions: [
      'Do not make this call again: use what it has already told you.',
      remedy ?? 'If you need another answer, first change what the call depends on.',
    ],
  }),
  ping_pong: ({ count }) => ({
    summary: `You are going back and forth between the same calls: ${count} rounds, and nothing new has come of them.`,
    suggestions: ['Decide what these results tell you together, then take a step you have not taken yet.'],
  }),
  cycle: ({ count }) => ({
    summary: `The same few calls have come round ${count} times, and nothing new has come of them.`,
    suggestions: ['Leave the circle: name what you still need to know and choose another way to find it out.'],
  }),
  repetition: ({ call, remedy }) => ({
    summary: `The last calls to ${call} and their answers resemble each other: nothing new has come of them.`,
    suggestions: [remedy ?? 'Rewording the call will not change the answer: change the approach.'],
  }),
  repeated_error: ({ call, count, outcome, remedy, tool }) => ({
    summary: `Your calls to ${call} have failed ${count} times for one cause: ${outcome}.`,
    suggestions: [remedy ?? `Read the error again and remove its cause before you call ${tool} once more.`, GENERAL],
  }),
  error_cascade: ({ count }) => ({
    summary: `${count} steps in a row have failed.`,
    suggestions: ['Before the next attempt, look for what these failures share: network, permissions, working folder.'],
  }),
  polling_no_progress: ({ call, count }) => ({
    summary: `You have asked ${call} ${count} times, and its answer has not changed.`,
    suggestions: ['Find out whether what you wait for is still running, or do other work in the meantime.'],
  }),
  stagnation: ({ tool, count, remedy }) => ({
    summary: `${count} different questions to ${tool} have had the same answer.`,
    suggestions: [remedy ?? 'Look in another place or with another tool: asking in other words gives the same answer.'],
  }),
  thrash: ({ call, count }) => ({
    summary: `Your changes undo each other: ${count} times ${call} has brought back an earlier state.`,
    suggestions: ['Decide which state is right and why before you change it again.'],
  }),
  same_failure_after_edits: ({ call, count }) => ({
    summary: `The same check, ${call}, has failed ${count} times with the same message, whatever you changed in between.`,
    suggestions: ['The cause probably lies elsewhere: question what you took for certain, and test that first.'],
  }),
  stall: ({ count }) => ({
    summary: `The last ${count} calls have brought no new result and changed nothing.`,
    suggestions: ['Name what is still missing for the goal, and take a step you have not tried yet.'],
  }),
};

/** The sentences for a pattern; a kind of the user's own is named, not explained. */
export function patternSentences(pattern: TrajectoryPattern): PatternSentences {
  const sentences = Object.hasOwn(BY_KIND, pattern.kind) ? BY_KIND[pattern.kind] : undefined;
  if (sentences !== undefined) return sentences(slotsOf(pattern));
  const kind = slotText(pattern.kind, MAX_TOOL_CHARS);
  return {
    summary: `Your last calls show a pattern that seldom leads on: ${kind}, seen ${pattern.occurrences} times.`,
    suggestions: ['Step back and consider another approach.'],
  };
}

function slotsOf(pattern: TrajectoryPattern): Slots {
  const { kind, tool: name, subject, occurrences } = pattern;
  const answer = pattern.answer ?? (kind === 'repeated_error' ? 'other' : 'content');
  const tool = name === undefined ? 'the tool' : slotText(name, MAX_TOOL_CHARS);
  const about = subject === undefined ? '' : slotText(subject.slice(-MAX_SUBJECT_CHARS), MAX_SUBJECT_CHARS);
  return {
    call: about === '' ? tool : `${tool} (${about})`,
    tool,
    count: occurrences,
    outcome: OUTCOMES[answer],
    remedy: REMEDIES[answer],
  };
}
