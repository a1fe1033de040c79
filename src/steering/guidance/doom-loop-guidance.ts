import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { defineGuidance } from './define-guidance.ts';
import { doomLoop, type DoomLoopOptions } from './doom-loop.ts';

/**
 * Tells the agent that it goes round:
 * `Detected repeated unsuccessful pattern. Consider a different approach or consult the planning tool to reassess
 * strategy.`
 *
 * Category `loop`, priority 10, at `pre_tool_selection`, `pre_tool_execution` and `post_tool_result`.
 *
 * @throws CoxswainError "invalid-definition" when an option is outside its range
 */
export const doomLoopGuidance: ProviderDefinition<DoomLoopOptions, GuidanceProvider> = defineProvider<
  DoomLoopOptions,
  GuidanceProvider
>(doomLoop.options, (options): GuidanceProvider =>
  defineGuidance({
    name: 'doom_loop',
    category: 'loop',
    decisionPoints: ['pre_tool_selection', 'pre_tool_execution', 'post_tool_result'],
    classifier: doomLoop(options),
    key: 'loop.doom-loop',
    priority: 10,
    content:
      'Detected repeated unsuccessful pattern. Consider a different approach or consult the planning tool to reassess strategy.',
  }),
);
