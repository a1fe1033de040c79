import { objectsIn } from '../../base/json-member.ts';
import { invalidArgument } from '../../base/error.ts';
import { isJsonObject } from '../../base/json.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import { textField, toolNamesOf, type ModelRequest } from './sdk-shapes.ts';
import { resolveGates, type GateOpinion, type ToolGate, type ToolGateContext } from './tool-gate.ts';

/** A request after the gates, with the record of their decision. */
export interface GatedRequest {
  readonly request: ModelRequest;
  readonly events: readonly AgentEvent[];
}

/** Position of a request in the run. */
export interface RequestPlace {
  readonly iteration: number;
  readonly modelId: string;
}

/**
 * Removes tools that the gates do not allow. A `toolChoice` that names a removed tool becomes `auto`.
 *
 * @param ask  calls one gate and catches its exceptions
 */
export function applyGates(
  request: ModelRequest,
  gates: readonly ToolGate[],
  place: RequestPlace,
  ask: (gate: ToolGate, tools: readonly string[]) => readonly string[] | undefined,
): GatedRequest {
  const availableTools = toolNamesOf(request);
  const opinions = gates.flatMap((gate): readonly GateOpinion[] => {
    const allow = ask(gate, availableTools);
    if (allow === undefined) return [];
    return [{ name: gate.name, class: gate.class ?? 'advisory', priority: gate.priority ?? 100, allow }];
  });
  if (opinions.length === 0 || availableTools.length === 0) return { request, events: [] };
  const { iteration } = place;
  const { allow, conflict } = resolveGates(opinions, availableTools);
  const events = opinions.map((opinion): AgentEvent => ({
    type: 'tool_gate_applied',
    iteration,
    plugin: opinion.name,
    allow: opinion.allow,
  }));
  if (conflict !== undefined) events.push({ type: 'tool_gate_conflict_resolved', iteration, ...conflict, allow });
  return { request: allow.length === availableTools.length ? request : withAllowedTools(request, allow), events };
}

/**
 * Returns the tool names that a gate allows.
 *
 * @throws CoxswainError "invalid-argument" if the gate does not return a list
 */
export function askGate(gate: ToolGate, context: ToolGateContext): readonly string[] | undefined {
  const allow: unknown = gate.allow(context);
  if (allow === undefined) return undefined;
  if (Array.isArray(allow)) return allow.filter((name) => typeof name === 'string');
  throw invalidArgument(`tool gate "${gate.name}" must return a list of names, got ${typeof allow}`);
}

function withAllowedTools(request: ModelRequest, allow: readonly string[]): ModelRequest {
  const tools = objectsIn(request['tools']).filter((tool) => allow.includes(textField(tool, 'name')));
  const { toolChoice } = request;
  const requiredTool =
    isJsonObject(toolChoice) && toolChoice['type'] === 'tool' ? textField(toolChoice, 'toolName') : undefined;
  const isGone = requiredTool !== undefined && !allow.includes(requiredTool);
  return { ...request, tools, ...(isGone ? { toolChoice: { type: 'auto' } } : {}) };
}
