import { present } from '../../../core/base/json.ts';
import { verifyRuns, type RunVerification } from '../../../lab/verify-runs.ts';
import { makeConfiguration } from '../../../lab/configuration.ts';
import { assertNever, CoxswainError } from '../../../core/base/error.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { jsonLine, printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const SHOWN_MISMATCHES = 5;
const DETAIL_CHARS = 300;
const CHARS_BEFORE = 60;

export interface BacktestVerifyOptions {
  readonly config?: string;
  readonly json?: boolean;
}

type Status = RunVerification['status'];

/**
 * Runs `coxswain backtest STORE --verify`.
 *
 * @returns 0 if at least one run was compared and all compared runs were equal; else 1
 */
export async function backtestVerify(
  paths: readonly string[],
  options: BacktestVerifyOptions,
  terminal: Terminal,
): Promise<number> {
  const spec = options.config === undefined || options.config === 'standard' ? {} : { file: options.config };
  const { name, options: steering, steering: resolved, redaction } = await makeConfiguration(spec);
  const counts = new Map<Status, number>();
  let matchedCount = 0;
  let mismatchedCount = 0;
  for await (const run of verifyRuns(paths, { steering, ...present({ redaction }) })) {
    counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
    matchedCount += run.matched;
    mismatchedCount += run.mismatched;
    await terminal.write(options.json === true ? jsonLine(run) : runText(run, resolved.configurationHash));
  }
  const countWith = (status: Status): number => counts.get(status) ?? 0;
  const comparedRuns = countWith('equal') + countWith('different');
  const totals = {
    configuration: { name, hash: resolved.configurationHash },
    matched: matchedCount,
    mismatched: mismatchedCount,
    equal: countWith('equal'),
    different: countWith('different'),
    gap: countWith('gap'),
    notSteered: countWith('not-steered'),
    otherConfiguration: countWith('other-configuration'),
    unreadable: countWith('unreadable'),
  };
  await terminal.write(
    options.json === true
      ? jsonLine(totals)
      : `${countText(matchedCount)} derived records matched, ${countText(mismatchedCount)} mismatched, in ${countOf(comparedRuns, 'run')}; ` +
          `exempt: ${countWith('gap')} with a gap, ${countWith('not-steered')} not steered, ${countWith('other-configuration')} of another configuration\n`,
  );
  if (comparedRuns === 0) {
    const hint = countWith('other-configuration') > 0 ? '; pass theirs with --config FILE' : '';
    throw new CoxswainError(
      'input-io',
      `no run could be verified under ${name} (${resolved.configurationHash})${hint}`,
    );
  }
  return mismatchedCount > 0 || countWith('unreadable') > 0 ? 1 : 0;
}

function runText({ run, status, matched, mismatched, mismatches, detail }: RunVerification, hash: string): string {
  const head = printableCut(run, 80);
  switch (status) {
    case 'equal':
      return `${head}: ${countText(matched)} matched\n`;
    case 'gap':
      return `${head}: exempt: it has a gap\n`;
    case 'not-steered':
      return `${head}: exempt: not steered by coxswain\n`;
    case 'other-configuration':
      return `${head}: recorded under the configuration ${printableCut(detail ?? '', 32)}, not ${hash}\n`;
    case 'unreadable':
      return `${head}: cannot be read: ${printableCut(detail ?? '', DETAIL_CHARS)}\n`;
    case 'different': {
      const lines = mismatches.slice(0, SHOWN_MISMATCHES).map(({ causeSeq, ordinal, recorded, replayed }) => {
        const difference =
          replayed === undefined
            ? `recorded ${recorded?.kind ?? ''}, replayed nothing`
            : recorded === undefined
              ? `recorded nothing, replayed ${replayed.kind}`
              : bothText(JSON.stringify(recorded), JSON.stringify(replayed));
        return `  after record ${causeSeq}, number ${ordinal}: ${difference}\n`;
      });
      const hiddenCount = mismatched - lines.length;
      const hiddenNote = hiddenCount > 0 ? `  and ${countText(hiddenCount)} more\n` : '';
      return `${head}: ${countText(matched)} matched, ${countText(mismatched)} mismatched\n${lines.join('')}${hiddenNote}`;
    }
    default:
      return assertNever(status);
  }
}

/** Returns an excerpt of both texts, starting shortly before the first difference. */
function bothText(recorded: string, replayed: string): string {
  let at = 0;
  while (at < recorded.length && recorded[at] === replayed[at]) at += 1;
  const excerptStart = Math.max(0, at - CHARS_BEFORE);
  const excerpt = (text: string): string =>
    (excerptStart === 0 ? '' : '…') + printableCut(text.slice(excerptStart), DETAIL_CHARS);
  return `recorded ${excerpt(recorded)}\n      replayed ${excerpt(replayed)}`;
}
