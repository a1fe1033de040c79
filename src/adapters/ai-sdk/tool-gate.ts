/** Limits the tools that are offered to the model in a turn. If the model calls a tool that was not offered, the tool still runs. */
export interface ToolGate {
  /** Unique name in records. */
  readonly name: string;
  /** Used if gates with the same priority return lists that have no tool in common; `required` wins. Default `advisory`. */
  readonly class?: 'required' | 'advisory';
  /** The gate with the lower number wins, as for guidance; default 100. */
  readonly priority?: number;
  /**
   * Returns the names of the allowed tools. Undefined allows all tools. An exception also allows all tools and is recorded as
   * a fault.
   */
  allow(context: ToolGateContext): readonly string[] | undefined;
}

/** Additional data for a gate. */
export interface ToolGateContext {
  /** Number of previous turns of the model. */
  readonly iteration: number;
  readonly modelId: string;
  /** Names of the tools that the SDK offers in this turn. */
  readonly tools: readonly string[];
}

/** The list that one gate returned. */
export interface GateOpinion {
  readonly name: string;
  readonly class: 'required' | 'advisory';
  readonly priority: number;
  readonly allow: readonly string[];
}

/** The tools to offer. */
export interface GateResolution {
  /** Allowed tools in the order of the available tools. Empty only if no tool was available. */
  readonly allow: readonly string[];
  /** Set if the allowlists had no tool in common. */
  readonly conflict?: GateConflict;
}

/** How a conflict between allowlists was resolved. */
export interface GateConflict {
  /** Every gate that returned a list. The winner is first. */
  readonly plugins: readonly string[];
  /** Gate whose list is used. Absent if no list names an available tool; all tools are then offered. */
  readonly chosenPlugin?: string;
  readonly reason: string;
}

/**
 * Intersects the allowlists with the available tools. If the intersection is empty, the model could not call any tool. Then
 * the list of one gate is used alone. The gate is chosen by priority (lower first), then class (`required` first), then name.
 * A list without an available tool is not chosen. The order of `opinions` has no effect.
 *
 * Cost: O(gates × tools).
 */
export function resolveGates(opinions: readonly GateOpinion[], available: readonly string[]): GateResolution {
  const lists = opinions.map(({ allow }) => new Set(allow));
  const commonTools = available.filter((tool) => lists.every((list) => list.has(tool)));
  if (commonTools.length > 0 || available.length === 0) return { allow: commonTools };
  const rankedOpinions = opinions.toSorted(compareOpinions);
  const plugins = rankedOpinions.map(({ name }) => name);
  const winningOpinion = rankedOpinions.find(({ allow }) => allow.some((tool) => available.includes(tool)));
  if (winningOpinion === undefined) {
    return { allow: available, conflict: { plugins, reason: 'no allowlist names an existing tool' } };
  }
  const list = new Set(winningOpinion.allow);
  return {
    allow: available.filter((tool) => list.has(tool)),
    conflict: { plugins, chosenPlugin: winningOpinion.name, reason: 'the allowlists have no tool in common' },
  };
}

function compareOpinions(a: GateOpinion, b: GateOpinion): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.class !== b.class) return a.class === 'required' ? -1 : 1;
  // Compare by code unit, so that the order is the same in every locale.
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
