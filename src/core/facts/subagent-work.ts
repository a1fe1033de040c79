import { checkCommandsOf } from './check-command.ts';
import { covers } from './check-coverage.ts';
import type { RunFacts } from './run-facts.ts';
import { finishedVerdict, isLater, isUnknown, type LastCheck } from './run-verdict.ts';

export type SubagentWork = Pick<RunFacts, 'id' | 'parentId' | 'checks' | 'lastChange'>;

/** The facts of a session that finished, judged with the checks and changes of its subagents, in the order of their times. */
export function judgedWith(run: RunFacts, below: readonly SubagentWork[]): RunFacts {
  const { answer } = run.verdict;
  const { changes: ownChanges = [], ...last } = run.lastAct ?? {};
  const checks = below.flatMap(({ checks: found, id: agent }) =>
    found.filter(({ isRefused }) => isRefused !== true).map((check) => Object.assign({}, check, { agent })),
  );
  const changes = below.flatMap(({ id: agent, lastChange }) => (lastChange ? { ...lastChange, agent } : []));
  if (run.lastAct === undefined || answer === undefined || checks.length + changes.length === 0) return run;
  const all = [...run.checks, ...checks].toSorted((a, b) => (isLater(a, b) ? 1 : -1));
  const left = all.filter((check) => !check.failed || !all.some((other) => makesUpFor(other, check)));
  const verdict = finishedVerdict(answer, left, { ...last, changes: [...ownChanges, ...changes] });
  return {
    ...run,
    verdict,
    moments: run.moments.filter(({ type }) => type !== 'check failed' || verdict.cause === 'check'),
  };
}

/** A later check of the session itself stands for those of its subagents before it. */
function makesUpFor(check: LastCheck, failed: LastCheck): boolean {
  if (check.failed || isUnknown(check) || check.agent === failed.agent || !isLater(check, failed)) return false;
  if (check.agent === undefined || check.command === failed.command) return true;
  const [one] = checkCommandsOf({ command: check.command });
  const [other] = checkCommandsOf({ command: failed.command });
  return one !== undefined && other !== undefined && covers(one, other);
}
