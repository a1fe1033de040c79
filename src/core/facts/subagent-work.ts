import { checkCommandsOf } from './check-command.ts';
import { covers } from './check-coverage.ts';
import type { RunFacts } from './run-facts.ts';
import { finishedVerdict, isLater, isUnknown, type LastCheck, type RunVerdict } from './run-verdict.ts';

export type SubagentWork = Pick<RunFacts, 'id' | 'checks' | 'lastChange'>;

/** The facts of a session that finished, judged with the checks and changes of its subagents. */
export function judgedWith(run: RunFacts, below: readonly SubagentWork[]): RunFacts {
  const verdict = verdictWith(run, below);
  if (verdict === run.verdict) return run;
  const moments = run.moments.filter(({ type }) => type !== 'check failed' || verdict.cause === 'check');
  return { ...run, verdict, moments };
}

/** The same verdict if its subagents neither checked nor changed anything. */
export function verdictWith(
  { checks, lastAct, verdict }: Pick<RunFacts, 'checks' | 'lastAct' | 'verdict'>,
  below: readonly SubagentWork[],
): RunVerdict {
  const { changes: ownChanges = [], ...last } = lastAct ?? {};
  const changes = below.flatMap(({ id: agent, lastChange }) => (lastChange ? { ...lastChange, agent } : []));
  const isUnchanged = changes.length === 0 && below.every((one) => checksOf(one).length === 0);
  if (lastAct === undefined || verdict.answer === undefined || isUnchanged) return verdict;
  return finishedVerdict(verdict.answer, checksWith(checks, below), { ...last, changes: [...ownChanges, ...changes] });
}

/** The checks of a session and of its subagents in the order of their times, without the failures that a later check makes up for. */
export function checksWith(own: readonly LastCheck[], below: readonly SubagentWork[]): readonly LastCheck[] {
  const all = [...own, ...below.flatMap(checksOf)].toSorted((a, b) => (isLater(a, b) ? 1 : -1));
  return all.filter((check) => !check.failed || !all.some((other) => makesUpFor(other, check)));
}

function checksOf({ checks, id: agent }: SubagentWork): readonly LastCheck[] {
  return checks.filter(({ isRefused }) => isRefused !== true).map((check) => Object.assign({}, check, { agent }));
}

function makesUpFor(check: LastCheck, failed: LastCheck): boolean {
  if (check.failed || isUnknown(check) || check.agent === failed.agent || !isLater(check, failed)) return false;
  if (check.command === failed.command) return true;
  const [one] = checkCommandsOf({ command: check.command });
  const [other] = checkCommandsOf({ command: failed.command });
  return one !== undefined && other !== undefined && covers(one, other);
}
