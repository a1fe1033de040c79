import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { severityOfLevel } from '../advice/advice.ts';
import { quoted } from '../advice/quote.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { callOf, type SeenCall } from '../prompt/seen-call.ts';
import { MAX_QUOTE_CHARS, patternSentences, type PatternQuotes } from './pattern-sentences.ts';
import { choice } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/** Options of `patternFeedback`. */
export interface PatternFeedbackOptions {
  /** The lowest level at which it speaks; default `warn`. */
  readonly level?: Exclude<PatternLevel, 'hint'>;
}

/** Calls among which the last one of a pattern is looked for. */
const LOOK_BACK = 16;

/**
 * Speaks of the loop the agent is stuck in: which call, how often, its answer or the line that says what failed, as
 * quotations, and one way out. Silent without a trajectory. Of
 * inefficiency it speaks only under a trigger of one's own that asks for it.
 * Default trigger: `onPattern` for stuck patterns, once a level.
 */
export const patternFeedback: ProviderDefinition<PatternFeedbackOptions, FeedbackProvider> = defineProvider(
  { level: choice<'warn' | 'strong'>({ warn: true, strong: true }, 'warn') },
  ({ level }): FeedbackProvider => ({
    name: 'Pattern',
    defaultTrigger: { onPattern: { stuck: true, level } },
    shouldRun: (context) => newsOf(context, level) !== undefined,
    provide: (context) => {
      const pattern = newsOf(context, level);
      if (pattern === undefined) return { summary: 'The pattern is over.' };
      const { identity, level: reached, occurrences } = pattern;
      return {
        ...patternSentences(pattern, quotesOf(pattern, context)),
        severity: severityOfLevel(reached),
        pattern: { identity, level: reached, occurrences },
      };
    },
  }),
);

/** The pattern that fired the trigger; under another trigger the loudest stuck one, of these the one flagged last. */
function newsOf(context: FeedbackContext, level: PatternLevel): TrajectoryPattern | undefined {
  const { trajectory, triggerPattern } = context;
  if (triggerPattern !== undefined) return triggerPattern;
  const loud = (pattern: TrajectoryPattern): boolean =>
    pattern.stuck && pattern.flaggedAt !== null && (level === 'warn' || pattern.level === 'strong');
  return trajectory
    ?.openPatterns()
    .filter(loud)
    .toSorted((a, b) => Number(b.level === 'strong') - Number(a.level === 'strong') || flagged(b) - flagged(a))[0];
}

function flagged(pattern: TrajectoryPattern): number {
  return pattern.flaggedAt ?? -1;
}

/** Quotations of the last call that shows the pattern, as far as it is still known. */
function quotesOf({ evidence, tool }: TrajectoryPattern, context: FeedbackContext): PatternQuotes {
  const index = evidence.at(-1);
  // Only this one is read: reading a call takes as long as analysing it.
  const invoked = context.recentToolCalls(LOOK_BACK).findLast(({ callIndex }) => callIndex === index);
  if (invoked === undefined || (tool !== undefined && invoked.name !== tool)) return {};
  const call = callOf(invoked);
  // The analysis has read the whole answer, the session holds its beginning and its end.
  const failed = context.trajectory?.recentCalls(LOOK_BACK).findLast((recent) => recent.index === index)?.errorLine;
  return present({
    tool: call.tool,
    asked: quoted(askedOf(call), MAX_QUOTE_CHARS.asked),
    answered: quoted(failed ?? call.result, MAX_QUOTE_CHARS.answered),
  });
}

/** The command of a shell call or the only text, else the argument that the call is about, else the longest text. */
function askedOf({ args, target }: SeenCall): string {
  if (typeof args === 'string') return args;
  if (!isJsonObject(args)) return target ?? '';
  const command = args['command'] ?? args['cmd'];
  const line = Array.isArray(command) ? command.at(-1) : command;
  const texts = Object.values(args).filter((value) => typeof value === 'string');
  const only = typeof line === 'string' ? line : texts.length === 1 ? texts[0] : undefined;
  // What a shell is told first is where to go.
  if (only !== undefined) return only.replace(/^\s*cd [^&;|]+(?:&&|;)\s*/, '');
  const ordered = texts.toSorted((a, b) => a.length - b.length);
  // The whole argument: what a command is about is a piece from its middle.
  return (target === undefined ? ordered.at(-1) : ordered.find((text) => text.includes(target))) ?? target ?? '';
}
