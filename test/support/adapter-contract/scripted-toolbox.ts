import type { Json } from '../../../src/core/base/json.ts';
import { toJson } from '../../../src/core/base/to-json.ts';

/**
 * Functions of scripted tools by name. A function that throws behaves like a failing tool of the SDK.
 *
 * @param callNumber  number of the call of this tool, from 1
 */
export type ScriptedTools = Readonly<Record<string, (args: Json, callNumber: number) => string | Promise<string>>>;

/** One run of a tool. Plain JSON. */
export interface ToolRun {
  readonly name: string;
  readonly args: Json;
  readonly failed: boolean;
}

/** Executes scripted tools and records each execution. */
export interface ScriptedToolbox {
  readonly names: readonly string[];
  /** Tool runs in the order of their start. */
  readonly runs: readonly ToolRun[];
  /** @throws the errors of the tool, and an Error for an unknown tool */
  run(name: string, args: unknown): Promise<string>;
}

export function scriptedToolbox(tools: ScriptedTools): ScriptedToolbox {
  const runs: ToolRun[] = [];
  const counts = new Map<string, number>();
  return {
    names: Object.keys(tools),
    runs,
    async run(name, value) {
      const args = toJson(value);
      const callNumber = (counts.get(name) ?? 0) + 1;
      counts.set(name, callNumber);
      const runIndex = runs.push({ name, args, failed: false }) - 1;
      try {
        const tool = tools[name];
        if (tool === undefined) throw new Error(`there is no tool named ${name}`);
        return await tool(args, callNumber);
      } catch (error) {
        runs[runIndex] = { name, args, failed: true };
        throw error;
      }
    },
  };
}
