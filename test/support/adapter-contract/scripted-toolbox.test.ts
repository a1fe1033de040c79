import { expect, test } from 'vitest';

import { scriptedToolbox } from './scripted-toolbox.ts';

test('what was run is kept in order of start, with what failed, and each tool counts its own calls', async () => {
  const answers = scriptedToolbox({
    look: (args, callNumber) => `${JSON.stringify(args)} ${callNumber}`,
    slow: async () => {
      await Promise.resolve();
      throw new Error('broken');
    },
  });
  const failing = answers.run('slow', {});
  expect(await answers.run('look', { at: 1 })).toBe('{"at":1} 1');
  expect(await answers.run('look', undefined)).toBe('null 2');
  await expect(failing).rejects.toThrow('broken');
  await expect(answers.run('nowhere', {})).rejects.toThrow('no tool named nowhere');
  expect(answers.runs).toEqual([
    { name: 'slow', args: {}, failed: true },
    { name: 'look', args: { at: 1 }, failed: false },
    { name: 'look', args: null, failed: false },
    { name: 'nowhere', args: {}, failed: true },
  ]);
});
