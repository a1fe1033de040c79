import type { Json } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';

/**
 * What tools answer, by name. A tool that throws fails, as a tool of that SDK does.
 *
 * @param callNumber how many times that tool was called, from 1
 */
export type ScriptedTools = Readonly<Record<string, (args: Json, callNumber: number) => string | Promise<string>>>;

/** One time that a tool was really run. Plain JSON. */
export interface ToolRun {
  readonly name: string;
  readonly args: Json;
  readonly failed: boolean;
}

/** Runs scripted tools and keeps what was run. */
export interface ScriptedToolbox {
  readonly names: readonly string[];
  /** In order of start. */
  readonly runs: readonly ToolRun[];
  /** @throws what the tool throws, and an Error for a tool that is not there */
  run(name: string, args: unknown): Promise<string>;
}

export function scriptedToolbox(tools: ScriptedTools): ScriptedToolbox {
  const runs: ToolRun[] = [];
  const counts = new Map<string, number>();
  return {
    names: Object.keys(tools),
    runs,
    async run(name, given) {
      const args = toJson(given);
      const callNumber = (counts.get(name) ?? 0) + 1;
      counts.set(name, callNumber);
      const at = runs.push({ name, args, failed: false }) - 1;
      try {
        const tool = tools[name];
        if (tool === undefined) throw new Error(`there is no tool named ${name}`);
        return await tool(args, callNumber);
      } catch (error) {
        runs[at] = { name, args, failed: true };
        throw error;
      }
    },
  };
}
