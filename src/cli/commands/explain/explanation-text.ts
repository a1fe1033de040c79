import { inWords } from '../../../records/words.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printableCut } from '../../terminal/printable.ts';
import type { CallExplanation, ExplainedPattern, ExplainedScore } from './explain-fold.ts';

const SHOWN_LINES = 4;
const LINE_CHARS = 160;
/** Maximum number of call numbers in a line. The last ones are shown. */
const SHOWN_CALLS = 32;

export function explanationText(explanation: CallExplanation, paint: Paint): string {
  const { run, call, calls, preview, target, kind, kindReason, patterns, repetition } = explanation;
  const lines = [
    `${printableCut(run, 80)}, call ${call} of ${calls}`,
    `  ${paint('bold', printableCut(preview, LINE_CHARS))}`,
    ...(target === undefined ? [] : [`  target: ${printableCut(target, LINE_CHARS)}`]),
    `  kind: ${kind}, ${printableCut(kindReason, LINE_CHARS)}`,
    ...failureLines(explanation),
    ...textLines(explanation),
    ...equalityLines(explanation),
    ...(patterns.length === 0 ? ['  patterns: none'] : ['  patterns, as of the end of the run:']),
    ...patterns.map(patternLine),
    ...(repetition === undefined ? [] : scoreLines(repetition)),
  ];
  return `${lines.join('\n')}\n`;
}

function failureLines(explanation: CallExplanation): readonly string[] {
  const { failed, failedReason, failureLine, failureClass, countedAsError } = explanation;
  const differenceNote =
    failed === countedAsError ? '' : `; ${countedAsError ? 'counted' : 'not counted'} as an error of the run`;
  return [
    `  failed: ${failed ? 'yes' : 'no'}, ${failedReason}${differenceNote}`,
    ...(failureClass === undefined ? [] : [`    class: ${failureClass}`]),
    ...(failureLine === undefined || failureLine === '' ? [] : [`    line: ${printableCut(failureLine, LINE_CHARS)}`]),
  ];
}

function textLines(explanation: CallExplanation): readonly string[] {
  const { resultText, comparedText, comparedAsItCame, comparedWithLess, rules } = explanation;
  const ignoredParts = [
    ...(comparedWithLess ? ['    also ignored: ids, numbers, or an echo of the call'] : []),
    ...(rules.length === 0 ? [] : [`  matching reading rules: ${rules.join(', ')}`]),
  ];
  if (comparedAsItCame) return ['  result, compared unchanged:', ...firstLines(resultText), ...ignoredParts];
  return ['  result:', ...firstLines(resultText), '  compared as:', ...firstLines(comparedText), ...ignoredParts];
}

function firstLines(text: string): readonly string[] {
  if (text.trim() === '') return ['    (empty)'];
  const lines = text.split(/\r?\n/);
  const shownLines = lines.slice(0, SHOWN_LINES).map((line) => `    | ${printableCut(line, LINE_CHARS)}`);
  return lines.length > SHOWN_LINES ? [...shownLines, '    | …'] : shownLines;
}

function equalityLines(explanation: CallExplanation): readonly string[] {
  const { beganEpoch, novel, sameCalls, sameArguments, sameResults } = explanation;
  return [
    `  new: ${novel ? 'yes' : 'no'}${beganEpoch ? '; it changes something, so earlier calls no longer count as equal' : ''}`,
    `  same call and result since the last change: ${callList(sameCalls)}`,
    `  same call, another result: ${callList(sameArguments)}`,
    `  another call, same result: ${callList(sameResults)}`,
  ];
}

function callList(numbers: readonly number[]): string {
  if (numbers.length === 0) return 'none';
  const shownNumbers = numbers.slice(-SHOWN_CALLS).join(', ');
  return numbers.length > SHOWN_CALLS ? `… ${shownNumbers} (${numbers.length} in all)` : shownNumbers;
}

function patternLine(pattern: ExplainedPattern): string {
  const { kind, level, stuck, firstCall, flaggedAtCall, leftAtCall, evidenceCalls } = pattern;
  const facts = [
    `${stuck ? 'stuck ' : ''}${inWords('level', level)}: ${printableCut(inWords('pattern', kind), 60)}, from call ${firstCall}`,
    flaggedAtCall === null ? 'never more than a hint' : `noticed at call ${flaggedAtCall}`,
    ...(leftAtCall === undefined ? [] : [`over by call ${leftAtCall}`]),
    `evidence ${callList(evidenceCalls)}`,
  ];
  return `    ${facts.join(', ')}`;
}

/** Formats the features that affect the score, the strongest first. */
function scoreLines({ chance, chanceWithoutFeatures, shares }: ExplainedScore): readonly string[] {
  const shownShares = shares.filter(({ adds }) => adds !== 0).sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  return [
    `  repetition score at this call: ${chance.toFixed(2)} (${chanceWithoutFeatures.toFixed(2)} without features); each feature with its value and its effect in logits`,
    ...shownShares.map(({ feature, value, adds }) => {
      const sign = adds > 0 ? '+' : '';
      return `    ${feature.padEnd(14)} ${value.toFixed(2)}  ${sign}${adds.toFixed(2)}`;
    }),
  ];
}
