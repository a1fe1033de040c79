import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { commandLineOf } from '../../detect/calls/check-command.ts';
import { classifyError } from '../../detect/calls/error-class.ts';
import { isListedProgram } from '../../detect/calls/shell-program.ts';
import { readCall } from '../../detect/calls/tool-semantics.ts';
import { toolWords } from '../../detect/calls/tool-words.ts';
import { severityOfLevel } from '../advice/advice.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { argsOf } from '../prompt/seen-call.ts';
import { callFactOf } from './call-fact.ts';
import { type LastCall, patternSentences } from './pattern-sentences.ts';
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
 * Describes the loop in which the agent is stuck: its calls, their count, the class of the result, and one suggestion. The text
 * contains no character of a call, a result or a server. It gives no feedback without a trajectory. For patterns of inefficiency,
 * configure a trigger that selects them. Default trigger: `onPattern` for stuck patterns, once per level.
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
        ...patternSentences(pattern, describeLastCall(pattern, context)),
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

/** Describes the last call of the pattern, if that call is still retained. */
function describeLastCall({ answer, evidence, tool }: TrajectoryPattern, context: FeedbackContext): LastCall {
  const { trajectory } = context;
  const index = evidence.at(-1);
  const invoked = context.recentToolCalls(LOOK_BACK).findLast(({ callIndex }) => callIndex === index);
  const name = tool ?? invoked?.name;
  const toolName = present({ tool: name === undefined ? undefined : toolWords(name, trajectory?.tools) });
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

/** Returns the command of a shell call, or the first text of other arguments. */
function commandOf(invoked: ToolInvoked): string {
  const args = argsOf(invoked);
  if (typeof args === 'string') return args;
  const firstText = isJsonObject(args) ? Object.values(args).find((value) => typeof value === 'string') : undefined;
  return commandLineOf(args) ?? firstText ?? '';
}
