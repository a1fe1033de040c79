import { expect, test } from 'vitest';
import { announcedStep } from './announced-step.ts';

test.each([
  ['The remote is set. Next, I will stage all changes.', 'Next, I will stage all changes'],
  ['Done with `__init__.py`.\n\nNow let me run the tests:', 'Now let me run the tests'],
  [
    'Now append the new blocks before the end of the outer `Describe`:',
    'Now append the new blocks before the end of the outer Describe',
  ],
  ["I'll start by reading the code.", "I'll start by reading the code"],
  ['`.gitignore` criado. Agora vou adicionar os arquivos.', 'Agora vou adicionar os arquivos'],
  ['状态如下。\n\n我现在将把修改添加到暂存区。', '我现在将把修改添加到暂存区'],
  ['Je comprends. Je vais corriger le fichier.', 'Je vais corriger le fichier'],
])('a message that ends with "%s" only announces its next step', (message, step) => {
  expect(announcedStep(message)).toBe(step);
});

test.each([
  'All tests pass.',
  'Let me know if you want changes.',
  "I'll report when either reaches its end.",
  'There is nothing left to do, so I will exit now.',
  'Approve the plan, please. I will create the file then.',
  'Should I go on? I will update the docs next.',
  'Once you have the key, I will run the migration.',
  'Your choice:',
  'I will now follow this pattern automatically.',
  'Let me know:\n- which file\n- which test',
  'Let me run the tests.\n\nAll 12 passed.',
  "I'll await your word.",
])('a message that ends with "%s" announces no step', (message) => {
  expect(announcedStep(message)).toBeUndefined();
});
