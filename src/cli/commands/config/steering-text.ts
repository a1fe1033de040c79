import type { LoadedConfig } from '../../../config/loaded-config.ts';
import type { ResolvedConfig } from '../../../config/resolved-config.ts';
import { defaultDetectors } from '../../../patterns/detectors/default-detectors.ts';
import type { FeedbackTrigger } from '../../../steering/prompt/feedback-trigger.ts';
import type { GuidanceProviderConfig } from '../../../steering/prompt/guidance-provider.ts';
import { durationText } from '../../../base/number-text.ts';
import { bytesText, shareText } from '../../terminal/number-text.ts';
import { shownStore } from '../../runs/open-store.ts';
import { printableCut } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** Who speaks, when, and how much. Plain JSON. */
export interface SpeakerRow {
  readonly name: string;
  readonly kind: 'feedback' | 'observer' | 'guidance' | 'model';
  readonly when: string;
  readonly limits: string;
}

/** Everyone who speaks under a configuration, in order. */
export function steeringRows({ steering }: ResolvedConfig): readonly SpeakerRow[] {
  const { feedback = [], observers = [], guidance = [], models = [] } = steering;
  return [
    ...feedback.map(({ provider, trigger }) => ({
      name: provider.name,
      kind: 'feedback' as const,
      when: triggerText(trigger ?? provider.defaultTrigger),
      limits: '',
    })),
    ...observers.map(({ observer, trigger }) => ({
      name: observer.name,
      kind: 'observer' as const,
      when: triggerText(trigger ?? observer.defaultTrigger),
      limits: '',
    })),
    ...guidance.map((config) => ({
      name: config.provider.name,
      kind: 'guidance' as const,
      when: (config.decisionPoints ?? config.provider.decisionPoints ?? ['every decision point']).join(', '),
      limits: limitsText(config),
    })),
    ...models.map(({ classifier, decisionPoints }) => ({
      name: classifier.name,
      kind: 'model' as const,
      when: decisionPoints.join(', '),
      limits: '',
    })),
  ];
}

function triggerText(trigger: FeedbackTrigger = {}): string {
  const { everyNCalls, everyNSeconds, onSessionEvent, onPattern, onFileCreated } = trigger;
  const parts = [
    everyNCalls === undefined ? [] : [`every ${everyNCalls} calls`],
    everyNSeconds === undefined ? [] : [`every ${everyNSeconds} seconds`],
    onSessionEvent === undefined ? [] : [`on ${onSessionEvent.eventName}`],
    onPattern === undefined ? [] : [patternText(onPattern)],
    onFileCreated === undefined ? [] : [`when ${onFileCreated} is there`],
  ].flat();
  return parts.length === 0 ? 'never' : parts.join(', or ');
}

function patternText({ kind, level = 'warn', stuck }: NonNullable<FeedbackTrigger['onPattern']>): string {
  const which = stuck === undefined ? 'any pattern' : stuck ? 'a stuck pattern' : 'an inefficient pattern';
  return `on ${kind ?? which} from ${level}`;
}

function limitsText({
  maxPerTurn = 3,
  minConfidence = 0.5,
  cooldownTurns = 0,
  maxPerRun,
}: GuidanceProviderConfig): string {
  return [
    `${maxPerTurn} a turn`,
    ...(cooldownTurns === 0 ? [] : [`then silent for ${cooldownTurns} turns`]),
    ...(maxPerRun === undefined ? [] : [`${maxPerRun} a run`]),
    `from a confidence of ${minConfidence}`,
  ].join(', ');
}

/** What a configuration comes to, as a short table. */
export function steeringText({ resolved, config }: LoadedConfig, { paint }: Terminal): string {
  const { steering, deadline, deadlineFrom, holdout, store, redaction, gc, completion } = resolved;
  const facts: readonly (readonly [string, string])[] = [
    ['mode', steering.mode === 'shadow' ? 'shadow: nothing is said' : 'steer'],
    ['deadline', deadline === undefined ? 'none' : `${spanText(deadline)}, from ${FROM[deadlineFrom]}`],
    ...(holdout === 0 ? [] : [['holdout', `advice is withheld from ${shareText(holdout, 1)} of episodes`] as const]),
    ['store', `${shownStore(store.address)} (${store.kind})`],
    ['redaction', redaction === false ? 'off' : (redaction.mode ?? 'secrets')],
    ...gcFacts(gc),
    ...(completion === undefined ? [] : [['completion', completionText(completion)] as const]),
    ['detectors', detectorsText(config.detectors ?? {}, steering.detectors?.length ?? 0)],
  ];
  const rows = steeringRows(resolved);
  const nameWidth = Math.max(10, ...rows.map(({ name }) => name.length));
  const lines = [
    ...facts.map(([name, value]) => `${name.padEnd(nameWidth)}  ${printableCut(value, 300)}`),
    '',
    ...rows.map(({ name, when, limits }) =>
      [
        paint('bold', printableCut(name, 64).padEnd(nameWidth)),
        printableCut(when, 200),
        ...(limits === '' ? [] : [paint('dim', limits)]),
      ].join('  '),
    ),
    ...(rows.length === 0 ? ['Nobody speaks.'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

const FROM = { session: 'the first prompt of the session', prompt: 'each prompt anew' } as const;

function spanText({ hours = 0, minutes = 0, seconds = 0 }: NonNullable<ResolvedConfig['deadline']>): string {
  return durationText(1_000 * (hours * 3_600 + minutes * 60 + seconds));
}

function gcFacts({ olderThanMs, maxBytes }: ResolvedConfig['gc']): readonly (readonly [string, string])[] {
  const parts = [
    ...(olderThanMs === undefined ? [] : [`runs without activity for ${durationText(olderThanMs)} go`]),
    ...(maxBytes === undefined ? [] : [`the oldest go over ${bytesText(maxBytes)}`]),
  ];
  return parts.length === 0 ? [] : [['gc', parts.join(', ')]];
}

function completionText({ files, command, maxAttempts }: NonNullable<ResolvedConfig['completion']>): string {
  const must = [...files, ...(command === undefined ? [] : [`\`${command.join(' ')}\` passes`])];
  return `${must.join(', ')}; asked ${maxAttempts} times at most`;
}

function detectorsText(section: NonNullable<LoadedConfig['config']['detectors']>, count: number): string {
  const off = Object.entries(section).flatMap(([kind, given]) => (given === false ? [kind] : []));
  const all = defaultDetectors().length;
  if (off.length === 0) return count === all ? 'all' : `all, and ${count - all} of code`;
  return `${count} on; off: ${off.join(', ')}`;
}
