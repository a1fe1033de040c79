import { present } from '../../core/base/json.ts';
import { parseDuration } from '../../core/base/number-text.ts';
import { MAX_FEEDBACK_CHARS, renderFeedback } from '../../core/steering/feedback/check-draft.ts';
import type { DoomLoopOptions } from '../../core/steering/guidance/built-in-guidance.ts';
import { BUILT_IN_RULES } from '../../core/redact/secret-rules.ts';
import type { ConfigProblem } from './config-problem.ts';
import type {
  BankEntry,
  CompletionSection,
  Condition,
  CoxswainConfig,
  FeedbackSection,
  GuidanceSection,
  RedactionSection,
} from './coxswain-config.ts';
import { FEEDBACK, GUIDANCE } from './providers.ts';

/** The valid part of a configuration, and the problems of the invalid part. */
export interface ConfigReading {
  readonly config: CoxswainConfig;
  readonly problems: readonly ConfigProblem[];
}

/** Dependencies between fields of the merged configuration, such as limits and duplicate names. A run can start with the result. */
export function checkTogether(config: CoxswainConfig): ConfigReading {
  const problems: ConfigProblem[] = [];
  const reportProblem: Report = (path, message) => {
    problems.push({ path, message, kind: 'together' });
  };
  const { feedback, guidance, detectors, redaction, completion } = config;
  return {
    config: {
      ...config,
      ...(feedback === undefined ? {} : { feedback: checkFeedback(feedback, reportProblem) }),
      ...(guidance === undefined ? {} : { guidance: checkGuidance(guidance, reportProblem) }),
      ...present({ detectors }),
      ...(redaction === undefined ? {} : { redaction: checkRedaction(redaction, reportProblem) }),
      ...(completion === undefined ? {} : { completion: checkCompletion(completion, reportProblem) }),
    },
    problems,
  };
}

type Report = (path: string, message: string) => void;

function checkFeedback(section: FeedbackSection, report: Report): FeedbackSection {
  if (section.static === undefined) return section;
  // Limits and cadence are counted by provider name.
  const names = new Set(Object.values(FEEDBACK).map(({ make }) => make().name));
  const validTexts = section.static.filter((one, index) => {
    const path = `feedback.static[${index}]`;
    if (names.has(one.name)) {
      report(`${path}.name`, `${JSON.stringify(one.name)} is the name of another provider; give each its own`);
      return false;
    }
    names.add(one.name);
    const { name, summary, observations = [], suggestions = [] } = one;
    const { length } = renderFeedback({ providerName: name, summary, observations, suggestions });
    if (length <= MAX_FEEDBACK_CHARS) return true;
    report(path, `has ${length} characters as the agent reads it; at most ${MAX_FEEDBACK_CHARS} are delivered`);
    return false;
  });
  return { ...section, static: validTexts };
}

function checkGuidance(section: GuidanceSection, report: Report): GuidanceSection {
  const { doomLoop, bank } = section;
  return {
    ...section,
    ...(typeof doomLoop === 'object' && !fitsWindow(doomLoop, 'guidance.doomLoop', report)
      ? { doomLoop: withoutWindow(doomLoop) }
      : {}),
    ...(bank === undefined ? {} : { bank: checkBank(bank, report) }),
  };
}

function checkBank(bank: readonly BankEntry[], report: Report): readonly BankEntry[] {
  const keys = new Set(Object.values(GUIDANCE).map(({ make }) => make().name));
  return bank.filter(({ key, when }, index) => {
    const path = `guidance.bank[${index}]`;
    if (keys.has(key)) {
      report(`${path}.key`, `${JSON.stringify(key)} is the name of another piece of guidance; give each its own`);
      return false;
    }
    keys.add(key);
    return conditionFits(when, `${path}.when`, report);
  });
}

function conditionFits(condition: Condition, path: string, report: Report): boolean {
  if ('doomLoop' in condition) {
    return condition.doomLoop === true || fitsWindow(condition.doomLoop, `${path}.doomLoop`, report);
  }
  if ('not' in condition) return conditionFits(condition.not, `${path}.not`, report);
  if ('threshold' in condition) return conditionFits(condition.threshold.of, `${path}.threshold.of`, report);
  const [name, parts] =
    'allOf' in condition ? ['allOf', condition.allOf] : ['anyOf', 'anyOf' in condition ? condition.anyOf : []];
  return parts.map((part, index) => conditionFits(part, `${path}.${name}[${index}]`, report)).every(Boolean);
}

type Window = Pick<DoomLoopOptions, 'windowSize' | 'maxRepetitions'>;

function fitsWindow({ maxRepetitions = 3, windowSize = 5 }: Window, path: string, report: Report): boolean {
  if (maxRepetitions <= windowSize) return true;
  const message = `${maxRepetitions} repetitions cannot be found in a window of ${windowSize} calls`;
  report(`${path}.maxRepetitions`, `${message}; raise windowSize or lower maxRepetitions`);
  return false;
}

function withoutWindow<Options extends Window>(options: Options): Omit<Options, keyof Window> {
  const { windowSize: _windowSize, maxRepetitions: _maxRepetitions, ...rest } = options;
  return rest;
}

function checkRedaction(section: RedactionSection, report: Report): RedactionSection {
  if (section.mode === 'structureOnly' && section.enabled !== false && section.key === undefined) {
    report(
      'redaction.key',
      'is missing: structureOnly needs a text of at least 16 characters, preferably in your own configuration; until then ' +
        'the key is derived from the project folder, which others can guess',
    );
  }
  if (section.rules === undefined) return section;
  const names = new Set(BUILT_IN_RULES);
  const rules = section.rules.filter(({ name }, index) => {
    const isNew = !names.has(name);
    if (!isNew) report(`redaction.rules[${index}].name`, `${JSON.stringify(name)} is the name of another rule`);
    names.add(name);
    return isNew;
  });
  return { ...section, rules };
}

/** The agent waits for the command. Above one hour the agent program would consider the Stop hook to hang. */
const MAX_TIMEOUT_MS = 3_600_000;

function checkCompletion(section: CompletionSection, report: Report): CompletionSection {
  const { timeout, ...rest } = section;
  if (timeout === undefined || (parseDuration(timeout) ?? 0) <= MAX_TIMEOUT_MS) return section;
  report('completion.timeout', `is at most 1h, got ${JSON.stringify(timeout)}`);
  return rest;
}
