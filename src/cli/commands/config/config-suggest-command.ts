import { present } from '../../../base/present.ts';
import { countOf, countText, percentText } from '../../../base/number-text.ts';
import { backtest } from '../../../backtest/backtest.ts';
import type { PartReport, SignalReport } from '../../../backtest/backtest-report.ts';
import { baseRate, isChance, isContrary } from '../../../backtest/chance-signals.ts';
import { readLabels } from '../../../backtest/labels.ts';
import { FEEDBACK, type AnyFeedback } from '../../../config/feedback-providers.ts';
import { GUIDANCE } from '../../../config/guidance-providers.ts';
import { DETECTORS } from '../../../patterns/detectors/default-detectors.ts';
import { Problems } from '../../runs/problems.ts';
import { jsonLine, printable } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface ConfigSuggestOptions {
  readonly config?: string;
  readonly labels?: string;
  readonly json?: boolean;
}

/** A part of the configuration that could be disabled, and the reason. */
interface Suggestion {
  /** Its section and name. Undefined if no configuration field disables it. */
  readonly field: readonly [section: 'detectors' | 'feedback' | 'guidance', name: string] | undefined;
  /** The name of the signal in reports. */
  readonly signal: string;
  readonly why: 'chance' | 'contrary';
  readonly precision: SignalReport['precision'];
}

/** Runs `coxswain config suggest`. @returns the exit code: 1 if something could not be read */
export async function configSuggestCommand(
  paths: readonly string[],
  { config, labels, json }: ConfigSuggestOptions,
  terminal: Terminal,
): Promise<number> {
  const { report, problems } = await backtest(paths, {
    ...present({ config }),
    labels: labels === undefined ? undefined : await readLabels(labels),
  });
  new Problems(terminal).faults(problems);
  const part = report.parts.at(-1);
  const base = part === undefined ? undefined : baseRate(part);
  const suggestions = part === undefined || base === undefined ? [] : suggestionsOf(part, base);
  const proposal = proposalOf(suggestions);
  const { runs, positive, negative } = report.input;
  await terminal.write(
    json === true
      ? jsonLine({ runs, positive, negative, baseRate: base ?? null, suggestions, proposal })
      : textOf({ runs, positive, negative, base, suggestions, proposal }),
  );
  return problems.length > 0 ? 1 : 0;
}

function suggestionsOf(part: PartReport, base: number): readonly Suggestion[] {
  return part.byConfiguration.flatMap(({ providers, details, patterns }) => {
    // Advice about time or budget is excluded, because it does not predict the outcome.
    const ofPatterns = new Set(details.flatMap(({ name, pattern }) => (pattern === null ? [] : [name])));
    const signals = [...patterns, ...providers.filter(({ name }) => ofPatterns.has(name))];
    return signals.flatMap((signal): readonly Suggestion[] => {
      const reason = isChance(signal, base) ? 'chance' : isContrary(signal, base) ? 'contrary' : undefined;
      if (reason === undefined) return [];
      return [{ field: fieldOf(signal), signal: signal.name, why: reason, precision: signal.precision }];
    });
  });
}

function fieldOf({ by, name }: SignalReport): Suggestion['field'] {
  if (by === 'pattern') {
    const kind = name === 'ping_pong' ? 'cycle' : name;
    return kind in DETECTORS ? ['detectors', kind] : undefined;
  }
  for (const [section, table] of [
    ['feedback', FEEDBACK],
    ['guidance', GUIDANCE],
  ] as const) {
    // Every provider in the tables can be created without options.
    for (const [key, { make }] of Object.entries(table as Readonly<Record<string, AnyFeedback>>)) {
      if (make().name === name) return [section, key];
    }
  }
  return undefined;
}

type Proposal = Readonly<Record<string, Readonly<Record<string, false>>>>;

function proposalOf(suggestions: readonly Suggestion[]): Proposal {
  const sections: Record<string, Record<string, false>> = {};
  for (const { field } of suggestions) {
    if (field !== undefined) sections[field[0]] = { ...sections[field[0]], [field[1]]: false };
  }
  return sections;
}

interface Findings {
  readonly runs: number;
  readonly positive: number;
  readonly negative: number;
  readonly base: number | undefined;
  readonly suggestions: readonly Suggestion[];
  readonly proposal: Proposal;
}

function textOf({ runs, positive, negative, base, suggestions, proposal }: Findings): string {
  const judgedRuns = positive + negative;
  if (base === undefined) {
    return `${countOf(runs, 'run')}, ${countText(judgedRuns)} with a known end, all alike: there is nothing to compare. Give labels with --labels FILE.\n`;
  }
  const head = `${countText(positive)} of ${countOf(judgedRuns, 'run')} went wrong (${percentText(base)}).\n`;
  if (suggestions.length === 0) {
    return `${head}Nothing to suggest: everything that spoke in five or more runs does better than chance.\n`;
  }
  const lines = suggestions.map(({ signal, why, precision: { hits, of, low, high } }) => {
    const finding = why === 'chance' ? 'no better than chance' : 'speaks in runs that go well';
    return `  ${printable(signal)}: ${finding}; ${hits} of ${of} runs in which it spoke went wrong (95 % interval ${percentText(low ?? 0)} to ${percentText(high ?? 1)})\n`;
  });
  const json = JSON.stringify(proposal, null, 2);
  return `${head}\n${lines.join('')}\nTo switch these off, in coxswain.config.json:\n\n${json}\n\nCompare first: coxswain backtest --compare standard coxswain.config.json PATH…\n`;
}
