import { present } from '../../core/base/json.ts';
import type { Moment, RunFacts } from '../../core/facts/run-facts.ts';
import { WAITED } from '../../core/facts/run-verdict.ts';
import { CACHE_TOKENS } from '../../core/facts/usage-fold.ts';

/** What only the records know of a session: where it is kept, and what coxswain did in it. */
const OF_RECORDS = [
  'id',
  'task',
  'parentId',
  'source',
  'format',
  'agent',
  'person',
  'problem',
  'lostRecords',
  'diagnostics',
  'advice',
  'adviceTexts',
  'afterFlag',
  'faults',
  'faultTexts',
  'patternBasis',
  'patterns',
  'steered',
  'stuck',
] as const;
const USAGE = ['answersCountedEarly', 'answersWithoutCost', ...CACHE_TOKENS, 'costUsd', 'tokens'] as const;
const SAYS_LITTLE: ReadonlySet<string> = new Set(['cut_off', 'open', 'unknown']);

/** Completes a recorded session with its file, which the program may write late. The records have ends that the file lacks. */
export function completedBy(recorded: RunFacts, file: RunFacts | undefined): RunFacts {
  if (file === undefined) return recorded;
  const isUsageKnown = recorded.tokens !== undefined || recorded.costUsd !== undefined;
  if (file.calls < recorded.calls) return isUsageKnown ? recorded : { ...recorded, ...picked(file, USAGE) };
  const types = new Set(file.moments.map(({ type }) => type));
  const ofAdvice = recorded.moments.filter(({ type }) => !types.has(type));
  const { ending, verdict } = recorded;
  const saysMore = ending !== undefined || verdict.verdict === 'waiting';
  // Hooks tell that a session waits for a permission, and its file does not.
  const isUnknownToFile = file.ending === undefined || verdict.evidence.includes(WAITED);
  const isEndOfRecords = saysMore && isUnknownToFile && SAYS_LITTLE.has(file.verdict.verdict);
  return {
    ...file,
    ...present(picked(recorded, OF_RECORDS)),
    moments: [...file.moments, ...ofAdvice].map((moment): Moment =>
      Object.assign({ ...moment }, { runId: recorded.id }),
    ),
    ...(isEndOfRecords ? picked(recorded, ['alert', 'ending', 'verdict']) : {}),
  };
}

function picked<Name extends keyof RunFacts>(facts: RunFacts, names: readonly Name[]): Pick<RunFacts, Name> {
  // Each name is a member of the facts; one that is absent stays so.
  return Object.fromEntries(names.map((name) => [name, facts[name]])) as Pick<RunFacts, Name>;
}
