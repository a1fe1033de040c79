import type { CommandDefinition } from '../command-definition.ts';

export const notify: CommandDefinition = {
  name: 'notify',
  summary: 'test the notifications of your own configuration',
  examples: ['coxswain notify test'],
  commands: [
    {
      name: 'test',
      summary: 'send one notification to the webhook, the command and the desktop of your own configuration',
      examples: ['coxswain notify test'],
      load: async () => (await import('./notify-test-command.ts')).notifyTestCommand,
    },
  ],
};
