import type { AdapterScene } from './adapter-contract/adapter-harness.ts';
import { scriptedToolbox, type ScriptedToolbox } from './adapter-contract/scripted-toolbox.ts';

/** The test of the contract that needs an SDK in which one agent hands its task to another. */
export const HANDOVER = 'after a handoff the next agent keeps the task and the deadline';

/** The request to the subagent. */
interface AskedBelow {
  readonly name: string;
  readonly instructions: string;
  readonly prompt: string;
}

/**
 * The tools of the main agent of a scene. One of them is the agent below, where there is one.
 *
 * @param ask  runs the agent below, with the tools of the scene, to its last words
 */
export function withBelow(
  { below, tools }: AdapterScene,
  ask: (asked: AskedBelow) => Promise<string>,
): ScriptedToolbox {
  if (below === undefined) return scriptedToolbox(tools);
  return scriptedToolbox({ ...tools, [below.name]: async () => await ask({ ...below, prompt: 'Dig.' }) });
}
