import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { severityOfLevel } from '../advice/advice.ts';
import { quoted } from '../advice/quote.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { argsOf, callOf } from '../prompt/seen-call.ts';
import { callFactOf } from './call-fact.ts';
import { MAX_QUOTE_CHARS, patternSentences, type PatternQuotes } from './pattern-sentences.ts';
import type { ToolInvoked } from '../../session/tool-invoked.ts';
import { choice } from '../../base/shape.ts';
import type { TriggerPatternProvider } from './speaker.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/** Options of `patternFeedback`. */
export interface PatternFeedbackOptions {
  /** Minimum level; default `warn`. */
  readonly level?: Exclude<PatternLevel, 'hint'>;
}

/** Number of recent calls that are searched for the last call of a pattern. */
const LOOK_BACK = 16;

/**
 * Describes the loop in which the agent is stuck: the call, its count, quotations of its result or error line, and one
 * suggestion. It gives no feedback without a trajectory. For patterns of inefficiency, configure a trigger that selects
 * them. Default trigger: `onPattern` for stuck patterns, once per level.
 */
export const patternFeedback: ProviderDefinition<PatternFeedbackOptions, FeedbackProvider> = defineProvider(
  { level: choice<'warn' | 'strong'>({ warn: true, strong: true }, 'warn') },
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
        ...patternSentences(pattern, quoteLastCall(pattern, context)),
        severity: severityOfLevel(patternLevel),
        pattern: { identity, level: patternLevel, occurrences },
      };
    },
  }),
);

/**
 * Returns the pattern that fired the trigger. With another trigger, returns the strongest stuck pattern, and among several
 * the last one flagged.
 */
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

/** Returns quotations from the last call of the pattern, if that call is still retained. */
function quoteLastCall({ answer, evidence, tool }: TrajectoryPattern, context: FeedbackContext): PatternQuotes {
  const index = evidence.at(-1);
  const invoked = context.recentToolCalls(LOOK_BACK).findLast(({ callIndex }) => callIndex === index);
  if (invoked === undefined || (tool !== undefined && invoked.name !== tool)) return {};
  // The analysis read the whole result. The session contains only its beginning and end.
  const call = context.trajectory?.recentCalls(LOOK_BACK).findLast((recent) => recent.index === index);
  const mainArgument = findMainArgument(invoked);
  const shownResult = call?.errorLine ?? invoked.resultPreview;
  return present({
    tool: invoked.name,
    argument: quoted(mainArgument, MAX_QUOTE_CHARS.argument),
    result: shownResult.trim() === '[]' ? 'an empty list' : quoted(shownResult, MAX_QUOTE_CHARS.result),
    fact: call && callFactOf(invoked, mainArgument, { answer, call }),
  });
}

/**
 * Returns the command of a shell call, or the only text argument. Otherwise returns the target argument, else the longest
 * text.
 */
function findMainArgument(invoked: ToolInvoked): string {
  const args = argsOf(invoked);
  if (typeof args === 'string') return args;
  if (!isJsonObject(args)) return callOf(invoked).target ?? '';
  const command = args['command'] ?? args['cmd'];
  const commandText = Array.isArray(command) ? command.at(-1) : command;
  const texts = Object.values(args).filter((value) => typeof value === 'string');
  const onlyText = typeof commandText === 'string' ? commandText : texts.length === 1 ? texts[0] : undefined;
  // A leading `cd` is removed.
  if (onlyText !== undefined) return onlyText.replace(/^\s*cd [^&;|]+(?:&&|;)\s*/, '');
  // Finding the target takes as long as analysing the call.
  const { target } = callOf(invoked);
  const textsByLength = texts.toSorted((a, b) => a.length - b.length);
  // The whole argument is returned, because the target of a command is only a part of the argument.
  return (
    (target === undefined ? textsByLength.at(-1) : textsByLength.find((text) => text.includes(target))) ?? target ?? ''
  );
}
