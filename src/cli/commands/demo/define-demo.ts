import { type CommandDefinition, TARGET_OPTION } from '../command-definition.ts';

/** `coxswain demo`. */
export const demo: CommandDefinition = {
  name: 'demo',
  summary: 'play a sample run that gets stuck, steered, and record it',
  description:
    'Plays a sample run of an agent that gets stuck through a live, steered run at speed, shows the patterns and the advice as they ' +
    'happen, then how the agent takes the advice and leaves the pattern, and records it. Repeating it changes nothing.',
  options: {
    ...TARGET_OPTION,
    '--fast': 'do not pause between the calls (as without a terminal)',
  },
  examples: ['coxswain demo', 'coxswain demo --fast', 'coxswain demo --store sample.db'],
  load: async () => (await import('./demo-command.ts')).demoCommand,
};
