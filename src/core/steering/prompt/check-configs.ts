import { checkList, checkMembers } from '../../base/check-members.ts';
import { invalidArgument } from '../../base/error.ts';
import type { FeedbackProviderConfig, ObserverConfig } from './feedback-provider.ts';
import type { FeedbackTrigger } from './feedback-trigger.ts';
import type { GuidanceProviderConfig } from './guidance-provider.ts';

type Known<Options> = Readonly<Record<keyof Options, true>>;

// The compiler requires every member here.
const TRIGGER: Known<FeedbackTrigger> = {
  everyNCalls: true,
  everyNSeconds: true,
  onSessionEvent: true,
  onPattern: true,
  onFileCreated: true,
};
const FEEDBACK: Known<FeedbackProviderConfig> = { provider: true, trigger: true };
const OBSERVER: Known<ObserverConfig> = { observer: true, trigger: true };
const GUIDANCE: Known<GuidanceProviderConfig> = {
  provider: true,
  maxPerTurn: true,
  minConfidence: true,
  decisionPoints: true,
  cooldownTurns: true,
  maxPerRun: true,
};

/**
 * Checks the shape of configurations from JavaScript callers, of a run or a prompt. `lists` has each list under the name
 * that messages use.
 *
 * @throws CoxswainError "invalid-argument" for a value that is not a list, an unknown member, or a provider or
 *   observer without its functions
 */
export function checkConfigs(lists: {
  readonly feedback: readonly [name: string, configs: readonly FeedbackProviderConfig[] | undefined];
  readonly observers: readonly [name: string, configs: readonly ObserverConfig[] | undefined];
  readonly guidance: readonly [name: string, configs: readonly GuidanceProviderConfig[] | undefined];
}): void {
  eachConfig(lists.feedback, FEEDBACK, (name, { provider, trigger }) => {
    checkSpeaker(`${name}.provider`, provider, ['shouldRun', 'provide'], 'a provider, such as deadlineFeedback()');
    if (trigger !== undefined) checkMembers(`${name}.trigger`, trigger, TRIGGER);
  });
  eachConfig(lists.observers, OBSERVER, (name, { observer, trigger }) => {
    checkSpeaker(`${name}.observer`, observer, ['shouldRun', 'observe'], 'an observer, such as deadlineObserver()');
    if (trigger !== undefined) checkMembers(`${name}.trigger`, trigger, TRIGGER);
  });
  eachConfig(lists.guidance, GUIDANCE, (name, { provider }) => {
    checkSpeaker(`${name}.provider`, provider, [], 'a provider, such as doomLoopGuidance()');
  });
}

function eachConfig<Config>(
  [name, configs]: readonly [name: string, configs: readonly Config[] | undefined],
  known: Known<Config>,
  check: (name: string, config: Config) => void,
): void {
  checkList(name, configs);
  for (const [at, config] of (configs ?? []).entries()) {
    checkMembers(`${name}[${at}]`, config, known);
    check(`${name}[${at}]`, config);
  }
}

function checkSpeaker(name: string, speaker: unknown, functions: readonly string[], expected: string): void {
  if (typeof speaker !== 'object' || speaker === null || !('name' in speaker)) {
    throw invalidArgument(`${name} must be ${expected}`);
  }
  const missing = functions.find((member) => typeof Reflect.get(speaker, member) !== 'function');
  if (missing !== undefined) throw invalidArgument(`${name} has no function ${missing}; it must be ${expected}`);
}
