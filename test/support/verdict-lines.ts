import { scoreCases, type LabelledCase } from './score-scenarios.ts';

/**
 * The verdicts of labelled cases as lines of tab-separated text: a header, then each case with a verdict other than `right` in
 * one of its three forms (as recorded, with tool names without meaning, without flags for failures), in order of ids.
 */
export function verdictLines(cases: readonly LabelledCase[]): readonly string[] {
  const [named, opaque, flagless] = [{}, { opaque: true }, { flagless: true }].map((form) => scoreCases(cases, form));
  const rows = (named ?? []).flatMap(({ id, verdict }, index) => {
    const verdicts = [verdict, opaque?.[index]?.verdict, flagless?.[index]?.verdict];
    return verdicts.every((each) => each === 'right') ? [] : [[id, ...verdicts].join('\t')];
  });
  return ['id\tas recorded\topaque names\tno flags', ...rows.sort()];
}
