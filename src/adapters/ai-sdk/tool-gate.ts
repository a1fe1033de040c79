/** Says which tools the model is offered in a turn. What it does not offer can still run, should the model name it. */
export interface ToolGate {
  /** Names it in records; unique. */
  readonly name: string;
  /** Decides, between gates of one priority, whose list wins when they have nothing in common; default `advisory`. */
  readonly class?: 'required' | 'advisory';
  /** Lower wins, as in guidance; default 100. */
  readonly priority?: number;
  /** The tools it allows now, by name; undefined allows all. One that throws allows all, and the fault is recorded. */
  allow(context: ToolGateContext): readonly string[] | undefined;
}

/** What a gate knows. */
export interface ToolGateContext {
  /** Turns of the model before this one. */
  readonly iteration: number;
  readonly modelId: string;
  /** Names of the tools that the SDK offers in this turn. */
  readonly tools: readonly string[];
}

/** What one gate said. */
export interface GateOpinion {
  readonly name: string;
  readonly class: 'required' | 'advisory';
  readonly priority: number;
  readonly allow: readonly string[];
}

/** What is offered. */
export interface GateResolution {
  /** In the order in which the tools were available. Empty only when none was. */
  readonly allow: readonly string[];
  /** Set when the allowlists had nothing in common. */
  readonly conflict?: GateConflict;
}

/** How lists that have nothing in common were settled. */
export interface GateConflict {
  /** Every gate that had an opinion, the winner first. */
  readonly plugins: readonly string[];
  /** Whose list is offered; absent when no list names a tool that there is, and all are offered. */
  readonly chosenPlugin?: string;
  readonly reason: string;
}

/**
 * Intersects allowlists with what is available. Would nothing be left, the model could do nothing: then one list wins
 * whole, by priority (lower first), then class (`required` first), then name; a list that names no tool there is cannot
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
  // By code unit, so that it is the same in every locale.
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
