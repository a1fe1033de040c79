import { expect, test } from 'vitest';

import { saysTask, StoredNames, taskTitle } from './task-title.ts';

test.each([
  ['Fix the login form', 'Fix the login form'],
  ['Implement the following plan:\n\n# Plan: Show the address always\n\n## Context\n…', 'Show the address always'],
  ['<system-reminder>Today is Monday</system-reminder>\nAdd a health endpoint', 'Add a health endpoint'],
  // A command line puts them around words with spaces.
  ['"Add a first unit test and commit."', 'Add a first unit test and commit.'],
  ['"Yes" and "no" as words', '"Yes" and "no" as words'],
  ['<environment_context>\n  <cwd>/w</cwd>\n</environment_context>\n\nRename the table', 'Rename the table'],
  [
    '<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser\nall</command-args>',
    '/review the parser',
  ],
  ['[[ ## user_query ## ]]\n\nWhat is 2+2?', 'What is 2+2?'],
  ['2026-11-01T10:00:00 ERROR boom\n    at f (/w/a.js:1)\n```\nx\n```\nWhy does it fail?', 'Why does it fail?'],
  ['$ npm test\n> app@1.0.0 test\nWhy does this fail on CI?', 'Why does this fail on CI?'],
  [
    '➜  app git:(main) git push\nerror: No `x.toml` found\n\nhint: Run it\n- or not\n\nplease fix. i no longer use x',
    'fix. i no longer use x',
  ],
  ['{\n  "id": 1,\n  "name": "a"\n}\n\nWhy is the name wrong?', 'Why is the name wrong?'],
  ['<dependency>\n  <name>a</name>\n</dependency>\n\nRaise its version', 'Raise its version'],
  ['Unhandled error TypeError: x\n    at f (/w/a.js:1)', 'Unhandled error TypeError: x'],
  ['Implement this plan. Ask me first.', 'Implement this plan. Ask me first.'],
  ['Task: [Read from: /w/plan.md, /w/progress.md]\n\nReview the commits', 'Review the commits'],
  ['## Context\n\nPlease **speed up** the `parser`', 'Please speed up the parser'],
  ['Please fix the build', 'fix the build'],
  ['<!-- task-6 -->\nReview the diff.', 'Review the diff.'],
  ['❯ go run .\n2026/06/18 13:17:39 WARN slow\nWhy is it slow?', 'Why is it slow?'],
  ['Implement this plan:\n\n# Faster start', 'Faster start'],
  ['<system_instruction>\nYou are in Conductor.\n</system_instruction>\n\nAdd a page', 'Add a page'],
  ['--- pi-extension-context:start ---\nBranch: main\n--- pi-extension-context:end ---\n\nAdd a page', 'Add a page'],
  ['Automation: News\nAutomation ID: news\nLast run: never\n\nRead the news.', 'Automation: News'],
  [
    '\n## User Input\n\n```text\nUC-19 from the use cases\n```\n\nYou **MUST** consider the user input before proceeding (if not empty).\n\n## Goal\n\nFind gaps.',
    'UC-19 from the use cases',
  ],
  [
    '## User Input\r\n\r\n```text\r\n\r\n```\r\n\r\nYou **MUST** consider the user input before proceeding (if not empty).\r\n\r\n## Outline\r\n\r\nYou are updating the constitution.',
    'You are updating the constitution.',
  ],
  ['can you take a look at:\n\nhttps://example.org/issues/7', 'can you take a look at: https://example.org/issues/7'],
  [
    '# Files mentioned by the user:\n\n## image (2).png: /w/image (2).png\n\n## My request for Codex:\nAdd it to the page\n',
    'Add it to the page',
  ],
  [
    '# Context from my IDE setup:\n\n## Active file: a.ts\n\n## Open tabs:\n- a.ts: a.ts\n\n## My request for Codex:\nRename x\n',
    'Rename x',
  ],
  [
    '# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\n## User Input\n\n```text\nadd a list of items, with\n…\nmore of it\n',
    'add a list of items, with',
  ],
  ['## User Input\n\n```text\n$ARGUMENTS\n```\n\n## Outline\n\nDo this.\nadd a modal', 'add a modal'],
  ['## User Input\n\n```text\n$ARGUMENTS\n```\n\n## Outline\n\nDo this.\n\nNote: it takes long.', 'Do this.'],
  ['你好！\n请修复登录页', '请修复登录页'],
  ['Task: hey\n\n---\n**Output:** Write it to /w/a.md', 'hey'],
  ['> give me an overview', 'give me an overview'],
  ['## 用户输入\n\n```text\n优化依赖关系\n```\n\n## 概述\n\n- a', '优化依赖关系'],
  ['/plan\n\n/plan', '/plan'],
  ['hi - messages at startup: failed', 'messages at startup: failed'],
  ['/plan\n\nPlease add a page', '/plan: add a page'],
  [
    '<command-message>The "investigate" skill is running</command-message>\n<command-name>investigate</command-name>',
    '/investigate',
  ],
  [
    'You are executing the native /spec specify workflow inside pi.\n\n## Notes\n- Run no scripts.\n\n## User input from the slash command\nSync the bookings\n\n## Execution instructions\n1. Read it.',
    'Sync the bookings',
  ],
  [
    'You are executing the native /spec tasks workflow inside pi.\n\n## User input from the slash command\n(none)\n\n## Execution instructions\n1. Read it.',
    '/spec tasks',
  ],
  [
    '---\ndescription: "Carry out the plan"\nhandoffs: \n  - label: Build\n---\n\n## User Input\n\n```text\n$ARGUMENTS\n```\n\n## Outline\n\n1. Run `check`.\n- done',
    'Carry out the plan',
  ],
  [
    '---\ndescription: Carry out the plan\n---\n\n## User Input\n\n```text\nonly phase 2\n```\n\n## Outline',
    'only phase 2',
  ],
  ['This is a web application.\n\n- Use `mix`\n\n<!-- usage-rules-end -->\n\nAdd a schema', 'Add a schema'],
  ['/var/folders/3/T/pi-clipboard-3.png the tablet has no image', 'the tablet has no image'],
  ["'/w/Screen\\ Shot\\ 1.png' what is wrong here?", 'what is wrong here?'],
  ['@C:\\Users\\a\\.gemini\\tmp\\3c\\chat.json bring it back', 'bring it back'],
  ['/w/src/a.ts has a fault', '/w/src/a.ts has a fault'],
  [
    'Create a team with 4 teammates TO\nDiagnose the collapse.\nThen stop.',
    'Create a team with 4 teammates TO Diagnose the collapse.',
  ],
  [
    'Read all the files in the folder of the parser and say\nwhich of them are too long\n\nthanks',
    'Read all the files in the folder of the parser and say which of them are too long',
  ],
  ['Add a page\nwith a list', 'Add a page'],
  [
    "│ messages.error('Low.') │\n╰────╯\n✦ The form fails.\n\n > it shows an error\n   on the page, mend it",
    'it shows an error',
  ],
  ['[Image 1] [Image #2] Is there a way?', 'Is there a way?'],
  ['"# Context\n\nYour name is \\"Dori\\".\n"', 'Your name is \\"Dori\\".'],
  ['[the issue](https://example.org/7) implement this', 'the issue implement this'],
  ['<skill name="design" location="/s/SKILL.md">\n# Design\n</skill>\n\non the whole code', 'on the whole code'],
  ['<skill name="design" location="/s/SKILL.md">\n# Design\n</skill>', '/skill:design'],
  [
    '<teammate-message teammate_id="team-lead">\nYou are the test engineer.\n</teammate-message>',
    'You are the test engineer.',
  ],
  [
    '<teammate-message teammate_id="lead" color="red">\n{"type":"task_assignment","taskId":"1","subject":"Add \\"x\\"","description":"…"}',
    'Add "x"',
  ],
  [
    '<ide_opened_file>The user opened a.ts in the IDE.</ide_opened_file>\n<task-notification>\n<task-id>1</task-id>\n</task-notification>\nCheck the server',
    'Check the server',
  ],
])('the title of a task is its first line in the words of its user: %j', (task, title) => {
  expect(taskTitle(task)).toBe(title);
});

test('a task that is only a wrapper has no title', () => {
  expect(taskTitle('<system-reminder>x</system-reminder>')).toBeUndefined();
  const idle = '{"type":"idle_notification","from":"verify"}';
  expect(taskTitle(`<teammate-message teammate_id="verify">\n${idle}\n</teammate-message>`)).toBeUndefined();
});

test('a greeting, a mark and a wrapper ask for nothing', () => {
  const words = [
    'hi',
    'Hello?',
    '你好',
    '您好！',
    'hey claude',
    'Hola!',
    'good morning',
    'how are you ?',
    '.',
    '!\n',
    'ping',
    '',
    'xin chào',
    'namaste',
    'heyy',
    'continue',
    'Ok, go on.',
    '继续',
    'B',
    '/init',
    '/clear',
    'login',
    '$design',
    '<ide_opened_file>The user opened a.ts in the IDE.</ide_opened_file>\n你好',
    '<command-name>/plan</command-name>\n<command-args></command-args>',
    '<skill name="design" location="/s/SKILL.md">\n# Design\n</skill>',
    '/var/folders/3/T/pi-clipboard-3.png',
    '## User Input\n\n```text\n$ARGUMENTS\n```\n\n## Outline\n\n1. Run `check`.\n- done',
  ];
  expect(words.filter(saysTask)).toEqual([]);
  const tasks = [
    'hello world program in C',
    '你好，你能为我做什么',
    'continue with the parser',
    'ok! check the log',
    'test the parser',
    'hey give me details',
  ];
  expect(tasks.filter((text) => !saysTask(text))).toEqual([]);
});

test.each([
  ['Claude Code', '01a20731-32fa-7283-8738-4fb01b1c16aa/a1', '01a20731-32fa-7283-8738-4fb01b1c16aa/agent-a1'],
  ['Codex', 's1/019a2000-0000-7000-8000-0000000000bb', '019a2000-0000-7000-8000-0000000000bb'],
])('a subagent of %s that hooks recorded is the run of its transcript', (_, runId, transcriptId) => {
  const stored = new StoredNames();
  stored.add({ runId, depth: 1, startedAtMs: 0, lastAtMs: 0, records: 1, lastSeq: 0, turns: 0, calls: 0, errors: 0 });
  expect([transcriptId, 'a1', 's1'].map((id) => stored.idOf(id))).toEqual([runId, undefined, undefined]);
});
