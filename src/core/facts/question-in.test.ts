import { expect, test } from 'vitest';

import { questionIn } from './question-in.ts';

test.each([
  ['All tests pass. Want me to push and open a PR?', 'Want me to push and open a PR?'],
  ['The config has two owners.\nWhich one stays, **a** or `b`?', 'Which one stays, a or b?'],
  ['Should I use 19% or 20%? Just let me know!', 'Should I use 19% or 20%?'],
  [
    'All checked.\n\nWould you like me to:\n1. Fix A\n2. Fix B\n3. Something else?',
    'Would you like me to: 1. Fix A 2. Fix B 3. Something else?',
  ],
  [
    'Two ways are left. Which one do you prefer?\n\n- keep it\n- drop it',
    'Two ways are left. Which one do you prefer? - keep it - drop it',
  ],
  [
    'I can close the issue: it is a duplicate of #12. Want me to?',
    'I can close the issue: it is a duplicate of #12. Want me to?',
  ],
  ['Done. Should I add a page (e.g. common errors)?', 'Should I add a page (e.g. common errors)?'],
  [
    'Should I keep [`_private`](/w/_private) and `__init__.py`?',
    'Should I keep [_private](/w/_private) and __init__.py?',
  ],
  ['Which _one_ do you want, a_b or c_d?', 'Which one do you want, a_b or c_d?'],
  ["Let me know once that's sorted and I can retry.", "Let me know once that's sorted and I can retry."],
  ['Once you have updated the file, I will proceed.', 'Once you have updated the file, I will proceed.'],
  ['手順を確認しました。動作検証します。やりますか？', '動作検証します。 やりますか？'],
  ['Two ways are left.\n\nLet me know which of the two you prefer.', 'Let me know which of the two you prefer.'],
  ['Both work; tell me _which_ `API_KEY` to keep.', 'Both work; tell me which API_KEY to keep.'],
  ['I see no text. Could you paste it? That way I can help with it.', 'Could you paste it?'],
  ['方針は二つです。この方針で進めてよいですか？まず A を実装します。', 'この方針で進めてよいですか？'],
  ['It failed for lack of rights.\n\nVou executar `sudo rm -rf x`. Por favor, confirme.', 'Por favor, confirme.'],
  ['gcloud is missing. Install it. I will await your confirmation.', 'I will await your confirmation.'],
  ['Tôi cần biết thêm.\n\nCho tôi biết để tôi hướng dẫn.', 'Cho tôi biết để tôi hướng dẫn.'],
  ['Want me to:\n1. Add it?\n2. Drop it?\n\n---\n\n**Sources:**\n- [a](b)', 'Want me to: 1. Add it? 2. Drop it?'],
  ['I need more details to help.  \nWhat would you like me to do next?', 'What would you like me to do next?'],
  ['Please provide:\n1. The URL\n2. The folder', 'Please provide: 1. The URL 2. The folder'],
  ['Which of these helps next? (e.g., "show the code")', 'Which of these helps next?'],
  ['A: keep it.\nB: drop it.\n\n**Your choice:**', 'Your choice:'],
  ['The key is missing. Please provide the API key of staging.', 'Please provide the API key of staging.'],
  ['Two specs differ. So please confirm that the first one holds.', 'So please confirm that the first one holds.'],
  [
    'Je peux estimer le plan.\n\nDis‑moi le format et le niveau de détail souhaités.',
    'Dis‑moi le format et le niveau de détail souhaités.',
  ],
  ['已完成。请告诉我要保留哪一个。', '已完成。 请告诉我要保留哪一个。'],
  [
    'Want me to open an issue?\n\n**Sources:**\n\n- [One](https://a.example)\n- https://b.example',
    'Want me to open an issue?',
  ],
  ['All green. Should I merge it?\n\n::git-stage{cwd="/w"}\n::git-push{cwd="/w" branch="a"}', 'Should I merge it?'],
])('%j ends with a question', (text, question) => {
  expect(questionIn(text)).toBe(question);
});

test.each([
  'Done. Anything else you need help with before you switch machines?',
  'All of it is in place. Is there anything else you would like to automate?',
  "Is there anything you'd like to add to the file or change?",
  'Anything else on the list? We could do the docs. Just let me know!',
  'The page is up. Do you have any other questions?',
  'Hello! How can I help you today?',
  'Hi. What would you like to work on?',
  '你好。 需要我帮你处理什么？',
  '你好！有什么可以帮你的吗？',
  '¡Hola! ¿En qué puedo ayudarte?',
  'Hallo! Wobei kann ich dir helfen?',
  'Bonjour ! Comment puis-je vous aider ?',
  'The migration is done. What would you like to work on next?',
  'Why did it fail? The port was taken.',
  '**What changed?**\n- the port\n- the host',
  'Let me know if you need anything else.',
  'Let me know what you think!',
  'Let me know what you would like to tackle next!',
  'If you want me to implement these edits, tell me which files to change.',
  'Please refresh the page, and watch the badge. Let me know if you’d like to remove it.',
  'Still open whenever you want it: say the word to push.',
  'Please review the summary above.',
  'Why does it help?\n\nSources:\n- the manual\n\nAll of it is in place.',
  '원하면 어떻게 바꿀지 알려주세요.',
  // One directive takes one line, so that many in a line are read once.
  `Done.\n${'::a{}'.repeat(500)}x`,
])('%j asks nothing that a person must answer', (text) => {
  expect(questionIn(text)).toBeUndefined();
});

test('a long question is cut at its beginning, and says so', () => {
  const question = questionIn(`Do you want ${'this and '.repeat(40)}that?`);
  expect(question).toHaveLength(200);
  expect(question).toMatch(/^….*that\?$/);
});
