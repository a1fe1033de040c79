/** Limits the tools offered to the model in a turn. A tool that is not offered still runs if the model calls it. */
export interface ToolGate {
  /** Unique name in records. */
  readonly name: string;
  /** Decides between gates of one priority whose lists have nothing in common; default `advisory`. */
  readonly class?: 'required' | 'advisory';
  /** Lower wins, as in guidance; default 100. */
  readonly priority?: number;
  /** Names of the allowed tools; undefined allows all. An exception allows all and is recorded as a fault. */
  allow(context: ToolGateContext): readonly string[] | undefined;
}

/** Context of a gate. */
export interface ToolGateContext {
  /** Previous turns of the model. */
  readonly iteration: number;
  readonly modelId: string;
  /** Names of the tools that the SDK offers in this turn. */
  readonly tools: readonly string[];
}

/** The list of one gate. */
export interface GateOpinion {
  readonly name: string;
  readonly class: 'required' | 'advisory';
  readonly priority: number;
  readonly allow: readonly string[];
}

/** The tools offered. */
export interface GateResolution {
  /** In the order of the available tools. Empty only if none was available. */
  readonly allow: readonly string[];
  /** Set if the allowlists had nothing in common. */
  readonly conflict?: GateConflict;
}

/** Resolution of allowlists with nothing in common. */
export interface GateConflict {
  /** Every gate with a list, the winner first. */
  readonly plugins: readonly string[];
  /** Gate whose list is offered; absent if no list names an available tool, so that all are offered. */
  readonly chosenPlugin?: string;
  readonly reason: string;
}

/**
 * Intersects allowlists with the available tools. If nothing were left, the model could do nothing: then one list wins
 * completely, by priority (lower first), then class (`required` first), then name; a list without an available tool cannot
 * win. The order of `opinions` does not matter.
 *
 * Cost: O(gates × tools).
 */
export function resolveGates(opinions: readonly GateOpinion[], available: readonly string[]): GateResolution {
  const lists = opinions.map(({ allow }) => new Set(allow));
  const common = available.filter((tool) => lists.every((list) => list.has(tool)));
  if (common.length > 0 || available.length === 0) return { allow: common };
  const ranked = opinions.toSorted(compareOpinions);
  const plugins = ranked.map(({ name }) => name);
  const winner = ranked.find(({ allow }) => allow.some((tool) => available.includes(tool)));
  if (winner === undefined) {
    return { allow: available, conflict: { plugins, reason: 'no allowlist names a tool there is' } };
  }
  const list = new Set(winner.allow);
  return {
    allow: available.filter((tool) => list.has(tool)),
    conflict: { plugins, chosenPlugin: winner.name, reason: 'the allowlists have no tool in common' },
  };
}

function compareOpinions(a: GateOpinion, b: GateOpinion): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.class !== b.class) return a.class === 'required' ? -1 : 1;
  // By code unit, for the same order in every locale.
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
