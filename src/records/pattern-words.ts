/** Parts of the sentences about a pattern. */
export interface PatternSlots {
  /** The tool and its argument: `bash "make"`. */
  readonly call: string;
  readonly tool: string;
  readonly count: number;
  /** `: "…"` with the result, or an empty text. */
  readonly answer: string;
  /** The suggestion for this fact or class of result. Undefined if the kind of pattern has a more specific one. */
  readonly remedy: string | undefined;
}

interface PatternWords {
  /** The name that people read. */
  readonly name: string;
  /** The advice about a stuck pattern. Without it, the advice only states the kind. */
  readonly sentences?: (slots: PatternSlots) => readonly [summary: string, wayOut: string];
}

/** The words for each kind of pattern of the built-in detectors. `docs/words.md` and `docs/feedback.md` list them. */
export const PATTERN_WORDS: Readonly<Record<string, PatternWords>> = {
  identical_call: {
    name: 'the same call with the same result',
    sentences: ({ call, count, answer, remedy }) => [
      `The same call, ${call}, was made ${count} times with the same result${answer}.`,
      remedy ?? 'Change the call; if its result answers the task, finish.',
    ],
  },
  ping_pong: {
    name: 'back and forth between two calls',
    sentences: ({ call, count }) => [
      `You alternate between the same calls: ${count} rounds and nothing new. The last was ${call}.`,
      'Decide what these results say together, then take a step you have not taken yet.',
    ],
  },
  cycle: {
    name: 'round and round through the same few calls',
    sentences: ({ call, count }) => [
      `The same few calls came round ${count} times and brought nothing new. The last was ${call}.`,
      'Name what you still need to know and find it out another way.',
    ],
  },
  repetition: {
    name: 'calls and answers that resemble each other',
    sentences: ({ call, remedy, answer }) => [
      `The last calls and answers are alike; the last: ${call}${answer}.`,
      remedy ?? 'Question what these calls have in common; if their answer can be right, use it.',
    ],
  },
  repeated_error: {
    name: 'the same error again and again',
    sentences: ({ call, count, answer, remedy }) => [
      `${count} calls failed in the same way; the last: ${call}${answer}.`,
      remedy ?? 'Correct the part that the error names, or reach the goal with a different call.',
    ],
  },
  error_cascade: {
    name: 'one failure after another',
    sentences: ({ call, count, answer }) => [
      `${count} steps in a row failed, the last of them ${call}${answer}.`,
      'Check one small step by itself before the next full attempt.',
    ],
  },
  polling_no_progress: {
    name: 'waiting for something that does not change',
    sentences: ({ call, count, answer }) => [
      `${call} was asked ${count} times and its answer has not changed${answer}.`,
      'Check that what you wait for is still running, or do other work in the meantime.',
    ],
  },
  stagnation: {
    name: 'different questions with the same answer',
    sentences: ({ tool, count, answer, remedy }) => [
      `${count} different calls to ${tool} had the same answer${answer}.`,
      remedy ?? 'Other words will give the same answer: accept it, or look in another place.',
    ],
  },
  thrash: {
    name: 'changes that undo each other',
    sentences: ({ call, count }) => [
      `Your changes undo each other: ${call} brought back an earlier state for the ${ordinal(count)} time.`,
      'Write down the result of each state, keep the better one, and change something else.',
    ],
  },
  same_failure_after_edits: {
    name: 'the same failure after each edit',
    sentences: ({ call, count, answer }) => [
      `${call} failed ${count} times the same way in spite of your edits${answer}.`,
      'Check first that the edited code runs at all: the cause may lie elsewhere.',
    ],
  },
  stall: {
    name: 'nothing new for a long time',
    sentences: ({ call, count }) => [
      `The last ${count} calls brought no new result and changed nothing. The last was ${call}.`,
      'Name what is still missing for the goal, and take a step you have not tried yet.',
    ],
  },
  drift: { name: 'away from the task' },
  context_degradation: { name: 'reading again what was read before' },
  tool_avoidance: { name: 'a shell command where a tool exists' },
  sequential_when_parallel: { name: 'one read at a time where many could go together' },
};

function ordinal(count: number): string {
  const last = count % 100 > 10 && count % 100 < 14 ? 0 : count % 10;
  return `${count}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`;
}
