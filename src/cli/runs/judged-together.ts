import { present } from '../../core/base/json.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { judgedWith, type SubagentWork } from '../../core/facts/subagent-work.ts';
import { familyOf } from './run-blocks.ts';

const MAX_HELD = 1_000;
const MAX_BELOW = 10_000;

/** Yields a session that started subagents after all others, judged with what they did. Memory: 1,000 sessions and 10,000 subagents. */
export async function* judgedTogether(runs: AsyncIterable<RunFacts>): AsyncGenerator<RunFacts, void, void> {
  const held: RunFacts[] = [];
  const below: (SubagentWork & Pick<RunFacts, 'parentId'>)[] = [];
  for await (const run of runs) {
    const { checks, id, lastAct, lastChange, parentId } = run;
    if (parentId !== undefined && below.length < MAX_BELOW)
      below.push({ id, parentId, checks, ...present({ lastChange }) });
    if (parentId === undefined && lastAct !== undefined && held.length < MAX_HELD) held.push(run);
    else yield run;
  }
  const byParent = Map.groupBy(below, ({ parentId }) => parentId);
  for (const run of held) yield judgedWith(run, familyOf(run, byParent));
}
