/** Parts of the sentences about a pattern. None is text from a call or its result. */
export interface PatternSlots {
  /** The tool of the last call: a name that was known before the run, or `one tool`. */
  readonly tool: string;
  /** The tool and the program that it ran, if that is a common one: ` of bash (make)`. Empty without a name known before the run. */
  readonly of: string;
  readonly count: number;
  /** The numbers of the calls: `calls 4 to 9`. */
  readonly calls: string;
  /** The class of the last result: `syntax error`, or `result` if it is unknown. */
  readonly result: string;
  /** The same with what is not: `the same output`, `the same output apart from times and ids`. */
  readonly same: string;
  /** The call and the class, as far as they are known: ` Last call: bash (make), syntax error.` */
  readonly last: string;
  /** The suggestion for this fact or class of result. Undefined if the kind of pattern has a more specific one. */
  readonly remedy: string | undefined;
}

interface PatternWords {
  readonly name: string;
  readonly sentences?: (slots: PatternSlots) => readonly [summary: string, wayOut: string];
}

/** The words for each kind of pattern of the built-in detectors. `docs/feedback.md` lists them. */
export const PATTERN_WORDS: Readonly<Record<string, PatternWords>> = {
  identical_call: {
    name: 'the same call with the same result',
    sentences: ({ of, count, calls, same, remedy }) => [
      `You made the same call${of} ${count} times (${calls}), each with ${same}.`,
      remedy ?? 'Change the call; if its result answers the task, finish.',
    ],
  },
  flood: {
    name: 'the same calls several times in one turn',
    sentences: ({ count, calls }) => [
      `You sent ${count} calls (${calls}) whose results the same turn held already.`,
      'Send each call once, and read its result before you send the next.',
    ],
  },
  ping_pong: {
    name: 'back and forth between two calls',
    sentences: ({ count, calls, last }) => [
      `You alternate between the same calls: ${count} rounds (${calls}) and nothing new.${last}`,
      'Take a step you have not taken yet, or say what you wait for.',
    ],
  },
  cycle: {
    name: 'round and round through the same few calls',
    sentences: ({ count, calls, last }) => [
      `The same few calls came round ${count} times (${calls}) and brought nothing new.${last}`,
      'Name what you still need to know and find it out another way.',
    ],
  },
  repetition: {
    name: 'calls and answers that resemble each other',
    sentences: ({ calls, last, remedy }) => [
      `Your last calls and their results are alike (noticed at ${calls}).${last}`,
      remedy ?? 'Name what these calls have in common, and change that.',
    ],
  },
  repeated_error: {
    name: 'the same error again and again',
    sentences: ({ tool, count, calls, result, remedy }) => [
      `${count} calls of ${tool} failed in the same way (${calls}). Last result: ${result}.`,
      remedy ?? 'Change what the error names before you call again; if you cannot, say what is missing.',
    ],
  },
  error_cascade: {
    name: 'one failure after another',
    sentences: ({ count, calls, last }) => [
      `${count} steps in a row failed (${calls}).${last}`,
      'Check one small step by itself before the next full attempt.',
    ],
  },
  same_refusal: {
    name: 'the same answer from several tools',
    sentences: ({ count, calls, result }) => [
      `${count} calls in a row, of several tools (${calls}), had the same ${result}, names aside.`,
      'Say what is missing, or go on without it.',
    ],
  },
  no_effect: {
    name: 'actions without an effect on the screen',
    sentences: ({ tool, count, calls }) => [
      `${count} actions with ${tool} (${calls}) ended at the same screen.`,
      'Read the screen as it is now, and try another way to the goal; if there is none, say so.',
    ],
  },
  polling_no_progress: {
    name: 'waiting for something that does not change',
    sentences: ({ of, count, calls, same }) => [
      `You made the same poll${of} ${count} times (${calls}), each with ${same}.`,
      'Check that what you wait for is still running, or do other work in the meantime.',
    ],
  },
  stagnation: {
    name: 'different questions with the same answer',
    sentences: ({ tool, count, calls, same, remedy }) => [
      `${count} different calls of ${tool} (${calls}) had ${same}.`,
      remedy ?? 'Look in another place, or go on without it.',
    ],
  },
  same_hits: {
    name: 'different searches with the same hits',
    sentences: ({ tool, count, calls }) => [
      `${count} searches with ${tool} (${calls}) found the same things.`,
      'Read what was found, or search in another place.',
    ],
  },
  same_outcome: {
    name: 'a job in other words with the same report',
    sentences: ({ tool, count, calls }) => [
      `${count} calls of ${tool} with a job in words (${calls}) brought nearly the same report.`,
      'Take the report as it is, or do the step yourself.',
    ],
  },
  repeated_text: {
    name: 'the same paragraph again',
    sentences: ({ count, calls }) => [
      `You have written nearly the same paragraph ${count} times (${calls}).`,
      'Take the step that the text announces; if something keeps you from it, say what.',
    ],
  },
  thrash: {
    name: 'changes that undo each other',
    sentences: ({ count, calls }) => [
      `Your changes undo each other (${calls}): an earlier state came back for the ${ordinal(count)} time.`,
      'Write down the result of each state, keep the better one, and change something else.',
    ],
  },
  rewrites: {
    name: 'one file written as a whole again and again',
    sentences: ({ count, calls }) => [
      `You wrote one file as a whole ${count} times in a row (${calls}), without a look at it or a test in between.`,
      'Read what it holds now, say what is still wrong with it, and change only that.',
    ],
  },
  same_failure_after_edits: {
    name: 'the same failure after each edit',
    sentences: ({ of, count, calls, result }) => [
      `The same call${of} failed ${count} times the same way in spite of your edits (${calls}). Last result: ${result}.`,
      'Check first that the edited code runs at all: the cause may lie elsewhere.',
    ],
  },
  stall: {
    name: 'nothing new for a long time',
    sentences: ({ count, calls, last }) => [
      `Your last ${count} calls (${calls}) brought no new result and changed nothing.${last}`,
      'Name what is still missing for the goal, and take a step you have not tried yet.',
    ],
  },
  drift: { name: 'away from the task' },
};

function ordinal(count: number): string {
  const last = count % 100 > 10 && count % 100 < 14 ? 0 : count % 10;
  return `${count}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`;
}
