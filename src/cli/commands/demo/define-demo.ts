import { type CommandDefinition, TARGET_OPTION } from '../command-definition.ts';

export const demo: CommandDefinition = {
  name: 'demo',
  summary: 'play and record a sample run that gets stuck and is steered',
  description:
    'Plays a sample run of an agent that gets stuck, live and steered: shows patterns and advice as they ' +
    'happen, then how the agent follows the advice and leaves the pattern, and records it. Repeating it changes nothing.',
  options: {
    ...TARGET_OPTION,
    '--fast': 'do not pause between calls (default without a terminal)',
  },
  examples: ['coxswain demo', 'coxswain demo --fast', 'coxswain demo --store sample.db'],
  load: async () => (await import('./demo-command.ts')).demoCommand,
};
