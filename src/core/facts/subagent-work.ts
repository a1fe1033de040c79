import { checkCommandsOf } from './check-command.ts';
import { covers } from './check-coverage.ts';
import type { RunFacts } from './run-facts.ts';
import { finishedVerdict, isLater, isUnknown, type LastCheck, type WorkPlace } from './run-verdict.ts';

export type SubagentWork = Pick<RunFacts, 'id' | 'parentId' | 'checks' | 'lastChange'>;

/** The facts of a session that finished, judged with the checks and changes of its subagents, in the order of their times. */
export function judgedWith(run: RunFacts, below: readonly SubagentWork[]): RunFacts {
  const { answer } = run.verdict;
  const { changes: ownChanges = [], ...last } = run.lastAct ?? {};
  const checks = ofAgents(below, ({ checks: found }) => found.filter(({ isRefused }) => isRefused !== true));
  const changes = ofAgents(below, ({ lastChange }) => (lastChange === undefined ? [] : [lastChange]));
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

function ofAgents<Place extends WorkPlace>(
  below: readonly SubagentWork[],
  placesOf: (agent: SubagentWork) => readonly Place[],
): readonly Place[] {
  return below.flatMap((agent) => placesOf(agent).map((place): Place => Object.assign({}, place, { agent: agent.id })));
}

/** A later check of the session itself stands for those of its subagents before it. */
function makesUpFor(check: LastCheck, failed: LastCheck): boolean {
  if (check.failed || isUnknown(check) || check.agent === failed.agent || !isLater(check, failed)) return false;
  if (check.agent === undefined || check.command === failed.command) return true;
  const [one] = checkCommandsOf({ command: check.command });
  const [other] = checkCommandsOf({ command: failed.command });
  return one !== undefined && other !== undefined && covers(one, other);
}
