import { relative } from 'node:path';
import { countOf, durationText, bytesText, shareText } from '../../../core/base/number-text.ts';
import { problemText, type ConfigProblem } from '../../../hosts/config/config-problem.ts';
import { loadConfig } from '../../../hosts/config/load-config.ts';
import { untrustedText, type LoadedConfig } from '../../../hosts/config/loaded-config.ts';
import { jsonLine, printable, printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { ResolvedConfig } from '../../../hosts/config/resolve-config.ts';
import { defaultDetectors } from '../../../core/detect/detectors/default-detectors.ts';
import type { FeedbackTrigger } from '../../../core/steering/prompt/feedback-provider.ts';
import type { GuidanceProviderConfig } from '../../../core/steering/prompt/guidance-provider.ts';
import { shownStore } from '../../runs/open-store.ts';
import { isJsonObject, memberAt } from '../../../core/base/json.ts';
import { configFields } from '../../../hosts/config/decode-config.ts';
import type { CoxswainConfig } from '../../../hosts/config/coxswain-config.ts';
import { shownAddress } from '../../../stores/store-address.ts';
import type { Shape } from '../../../core/base/shape.ts';

const MESSAGE_CHARS = 500;

/** Runs `coxswain config check`. Returns the exit code: 1 if there are errors. */
export async function configCheckCommand(
  file: string | undefined,
  options: { readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const loadedConfig = await loadConfig({ projectFolder: process.cwd(), explicitPath: file });
  const { problems, sources } = loadedConfig;
  const ignored = untrustedText(loadedConfig);
  const exitCode = problems.length === 0 ? 0 : 1;
  if (options.json === true) {
    await terminal.write(jsonLine(jsonReport(loadedConfig)));
    return exitCode;
  }
  for (const problem of problems) terminal.complain(`coxswain: ${problemLine(problem)}`);
  if (ignored !== undefined) terminal.complain(`coxswain: ${printable(ignored)}`);
  if (sources.length === 0 && ignored === undefined && problems.length === 0) {
    await terminal.write('There is no configuration here: the standard steering applies.\n');
  }
  for (const { file: path, layer } of sources) {
    const owner = { user: 'your own', explicit: 'named', project: 'of the project, trusted' }[layer];
    await terminal.write(`${shownPath(path)}: ${owner}\n`);
  }
  const summary = problems.length === 0 ? 'no errors' : `${countOf(problems.length, 'field')} wrong and ignored`;
  await terminal.write(`${summary}\n\n${steeringText(loadedConfig, terminal)}`);
  return exitCode;
}

function problemLine(problem: ConfigProblem): string {
  const location = problem.file === undefined ? '' : `${shownPath(problem.file)}: `;
  return location + printableCut(problemText(problem), MESSAGE_CHARS);
}

function shownPath(path: string): string {
  const relativePath = relative(process.cwd(), path);
  return printable(relativePath === '' || relativePath.startsWith('..') ? path : relativePath);
}

function jsonReport({ sources, problems, untrusted, resolved }: LoadedConfig): unknown {
  const { steering: _steering, redaction: _redaction, ...rest } = resolved;
  return { sources, problems, untrusted, resolved: { ...rest, speakers: steeringRows(resolved) } };
}

export interface SpeakerRow {
  readonly name: string;
  readonly kind: 'feedback' | 'observer' | 'guidance' | 'model';
  readonly when: string;
  readonly limits: string;
}

export function steeringRows({ steering }: ResolvedConfig): readonly SpeakerRow[] {
  const { feedback = [], observers = [], guidance = [], models = [] } = steering;
  const row = (kind: SpeakerRow['kind'], name: string, when: string, limits = ''): SpeakerRow => ({
    name,
    kind,
    when,
    limits,
  });
  return [
    ...feedback.map(({ provider, trigger }) =>
      row('feedback', provider.name, triggerText(trigger ?? provider.defaultTrigger)),
    ),
    ...observers.map(({ observer, trigger }) =>
      row('observer', observer.name, triggerText(trigger ?? observer.defaultTrigger)),
    ),
    ...guidance.map((config) => {
      const points = config.decisionPoints ?? config.provider.decisionPoints ?? ['every decision point'];
      return row('guidance', config.provider.name, points.join(', '), limitsText(config));
    }),
    ...models.map(({ classifier, decisionPoints }) => row('model', classifier.name, decisionPoints.join(', '))),
  ];
}

function triggerText(trigger: FeedbackTrigger = {}): string {
  const { everyNCalls, everyNSeconds, onSessionEvent, onPattern, onFileCreated } = trigger;
  const parts = [
    everyNCalls === undefined ? [] : [everyNCalls === 1 ? 'after each call' : `every ${everyNCalls} calls`],
    everyNSeconds === undefined ? [] : [`every ${everyNSeconds === 1 ? 'second' : `${everyNSeconds} seconds`}`],
    onSessionEvent === undefined ? [] : [`on ${onSessionEvent.eventName}`],
    onPattern === undefined ? [] : [patternText(onPattern)],
    onFileCreated === undefined ? [] : [`when ${onFileCreated} exists`],
  ].flat();
  return parts.length === 0 ? 'never' : parts.join(', or ');
}

function patternText({ kind, level = 'warn', stuck }: NonNullable<FeedbackTrigger['onPattern']>): string {
  const patternName = stuck === undefined ? 'any pattern' : stuck ? 'a stuck pattern' : 'an inefficient pattern';
  return `on ${kind ?? patternName} from ${level}`;
}

function limitsText({
  maxPerTurn = 3,
  minConfidence = 0.5,
  cooldownTurns = 0,
  maxPerRun,
}: GuidanceProviderConfig): string {
  return [
    `${maxPerTurn} per turn`,
    ...(cooldownTurns === 0 ? [] : [`then silent for ${cooldownTurns} turns`]),
    ...(maxPerRun === undefined ? [] : [`${maxPerRun} per run`]),
    `from a confidence of ${minConfidence}`,
  ].join(', ');
}

export function steeringText({ resolved, config }: LoadedConfig, { paint }: Terminal): string {
  const { steering, deadline, deadlineFrom, holdout, store, redaction, gc, completion } = resolved;
  const facts: readonly (readonly [string, string])[] = [
    ['mode', steering.mode === 'shadow' ? 'shadow: advice is only recorded' : 'steer'],
    ['deadline', deadline === undefined ? 'none' : `${spanText(deadline)}, from ${FROM[deadlineFrom]}`],
    ...(holdout === 0 ? [] : [['holdout', `advice is withheld in ${shareText(holdout, 1)} of episodes`] as const]),
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
    ...(rows.length === 0 ? ['No providers.'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

const FROM = { session: 'the first prompt of the session', prompt: 'each prompt' } as const;

function spanText({ hours = 0, minutes = 0, seconds = 0 }: NonNullable<ResolvedConfig['deadline']>): string {
  return durationText(1_000 * (hours * 3_600 + minutes * 60 + seconds));
}

function gcFacts({ olderThanMs, maxBytes }: ResolvedConfig['gc']): readonly (readonly [string, string])[] {
  const parts = [
    ...(olderThanMs === undefined ? [] : [`deletes runs inactive for ${durationText(olderThanMs)}`]),
    ...(maxBytes === undefined ? [] : [`deletes the oldest runs over ${bytesText(maxBytes)}`]),
  ];
  return parts.length === 0 ? [] : [['gc', parts.join(', ')]];
}

function completionText({ files, command, maxAttempts }: NonNullable<ResolvedConfig['completion']>): string {
  const conditions = [...files, ...(command === undefined ? [] : [`\`${command.join(' ')}\` passes`])];
  return `${conditions.join(', ')}; checked at most ${maxAttempts} times`;
}

function detectorsText(section: NonNullable<LoadedConfig['config']['detectors']>, count: number): string {
  const disabledTexts = Object.entries(section).flatMap(([kind, value]) => (value === false ? [kind] : []));
  const detectorCount = defaultDetectors().length;
  if (disabledTexts.length === 0)
    return count === detectorCount ? 'all' : `all, and ${count - detectorCount} from code`;
  return `${count} on; off: ${disabledTexts.join(', ')}`;
}

export async function configShowCommand(
  options: { readonly config?: string; readonly set?: boolean; readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { config, problems } = await loadConfig({ projectFolder: process.cwd(), explicitPath: options.config });
  if (problems.length > 0) {
    terminal.complain(`coxswain: ${countOf(problems.length, 'problem')}; coxswain config check lists them`);
  }
  const shownConfig = withoutSecrets(config);
  if (options.json === true) await terminal.write(jsonLine(shownConfig));
  else for (const line of fieldLines(shownConfig, options.set === true, terminal)) await terminal.write(line);
  return problems.length === 0 ? 0 : 1;
}

function withoutSecrets(config: CoxswainConfig): CoxswainConfig {
  const { redaction, store } = config;
  return {
    ...config,
    ...(redaction?.key === undefined ? {} : { redaction: { ...redaction, key: '(not shown)' } }),
    ...(store?.address === undefined ? {} : { store: { address: shownAddress(store.address) } }),
  };
}

function fieldLines(config: CoxswainConfig, onlySet: boolean, { paint }: Terminal): readonly string[] {
  const fields = configFields().filter(
    ({ path, shape }) => !/\[\]|\*/.test(path) && shape.kind !== 'object' && path !== '$schema',
  );
  const width = Math.max(...fields.map(({ path }) => path.length));
  return fields.flatMap(({ path, shape }) => {
    const value = memberAt(config, path.split('.'));
    if (isJsonObject(value) && shape.kind === 'either') return [];
    if (value !== undefined)
      return [`${path.padEnd(width)}  ${paint('bold', printableCut(JSON.stringify(value), 200))}\n`];
    const defaultValue = defaultOf(shape);
    return onlySet || defaultValue === undefined
      ? []
      : [`${path.padEnd(width)}  ${paint('dim', `${defaultValue} (default)`)}\n`];
  });
}

function defaultOf(shape: Shape): string | undefined {
  if (shape.kind === 'either') return shape.shapes.map(defaultOf).find((text) => text !== undefined);
  return 'default' in shape && shape.default !== undefined ? JSON.stringify(shape.default) : undefined;
}
