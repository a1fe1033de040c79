import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { testFolder } from '../../test/support/test-folder.ts';
import { findSessions, findUnread } from './find-sessions.ts';

async function homeWith(files: readonly string[]): Promise<string> {
  const folder = testFolder();
  for (const [at, file] of files.entries()) {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '{}');
    await utimes(path, 1_000 + at, 1_000 + at);
  }
  return folder;
}

const FILES = {
  'claude-code': ['.claude/projects/-p/a.jsonl', '.claude/projects/-p/b.jsonl'],
  codex: ['.codex/sessions/2026/11/23/rollout-1.jsonl', '.codex/archived_sessions/rollout-0.jsonl.zst'],
  copilot: ['.copilot/session-state/1/events.jsonl', '.copilot/session-state/2.jsonl'],
  gemini: [
    '.gemini/tmp/p/chats/session-1.jsonl',
    '.gemini/tmp/p/chats/s1/sub.jsonl',
    '.gemini/tmp/p/chats/session-0.json',
  ],
  opencode: ['.local/share/opencode/opencode.db', '.local/share/opencode/storage/session/global/ses_1.json'],
  pi: ['.pi/agent/sessions/--p--/1.jsonl'],
  'qwen-code': ['.qwen/projects/-p/chats/1.jsonl'],
  kimi: ['.kimi/sessions/p/1/wire.jsonl'],
  'kimi-code': [
    '.kimi-code/sessions/wd_p/session_1/agents/main/wire.jsonl',
    '.kimi-code/sessions/wd_p/session_1/agents/agent-0/wire.jsonl',
  ],
  aider: ['.aider.chat.history.md'],
  goose: ['.local/share/goose/sessions/sessions.db', '.local/share/goose/sessions/1.jsonl'],
};
const BESIDE = [
  '.claude/settings.json',
  '.claude/projects/-p/a/subagents/agent-1.jsonl',
  '.codex/history.jsonl',
  '.gemini/tmp/p/logs.json',
  '.kimi/sessions/p/1/context.jsonl',
  '.local/share/opencode/storage/message/ses_1/msg_1.json',
];

test('the sessions of every program are found where it keeps them, the newest first, and nothing else', async () => {
  const home = await homeWith([...Object.values(FILES).flat(), ...BESIDE]);
  const found = findSessions({ home, env: { CODEX_HOME: '' } });
  const paths = found.map(({ format, sessions }) => [format, sessions.map(({ path }) => path)]);
  expect(Object.fromEntries(paths)).toEqual(
    Object.fromEntries(
      Object.entries(FILES).map(([format, files]) => [format, files.toReversed().map((file) => join(home, file))]),
    ),
  );
});

test.each([
  ['CLAUDE_CONFIG_DIR', 'claude-code', 'projects/-p/a.jsonl'],
  ['CODEX_HOME', 'codex', 'sessions/2026/11/23/rollout-1.jsonl'],
  ['COPILOT_HOME', 'copilot', 'session-state/1/events.jsonl'],
  ['GEMINI_CLI_HOME', 'gemini', '.gemini/tmp/p/chats/session-1.jsonl'],
  ['XDG_DATA_HOME', 'opencode', 'opencode/opencode.db'],
  ['PI_CODING_AGENT_DIR', 'pi', 'sessions/--p--/1.jsonl'],
  ['QWEN_RUNTIME_DIR', 'qwen-code', 'projects/-p/chats/1.jsonl'],
  ['KIMI_SHARE_DIR', 'kimi', 'sessions/p/1/wire.jsonl'],
  ['KIMI_CODE_HOME', 'kimi-code', 'sessions/wd_p/session_1/agents/main/wire.jsonl'],
])('%s moves the folder of %s', async (variable, format, file) => {
  const moved = await homeWith([file]);
  const found = findSessions({ home: await homeWith([]), env: { [variable]: moved } });
  expect(found.flatMap(({ format: name, sessions }) => sessions.map(({ path }) => [name, path]))).toEqual([
    [format, join(moved, file)],
  ]);
});

test('the sessions of a linked folder are found, a link to nothing is not, and no other program has any', async () => {
  const home = await homeWith(['.claude/projects/-p/a.jsonl']);
  const kept = await homeWith(['b.jsonl']);
  await symlink(kept, join(home, '.claude/projects/-q'));
  await symlink(join(kept, 'gone.jsonl'), join(home, '.claude/projects/-p/c.jsonl'));
  const found = findSessions({ home, env: {} }).flatMap(({ sessions }) => sessions.map(({ path }) => path));
  expect(found.toSorted()).toEqual(['-p/a.jsonl', '-q/b.jsonl'].map((path) => join(home, '.claude/projects', path)));
});

test('a database is as new as its log, which is written first', async () => {
  const home = await homeWith(['.local/share/opencode/opencode.db', '.local/share/opencode/opencode.db-wal']);
  const found = findSessions({ home, env: {} });
  expect(found.flatMap(({ sessions }) => sessions.map(({ modifiedAtMs }) => modifiedAtMs))).toEqual([1_001_000]);
});

test('files of programs that are known and not read are found', async () => {
  const home = await homeWith(['.cursor/chats/p/1/store.db', 'project/.aider.llm.history']);
  const found = findUnread({ home, env: {}, project: join(home, 'project') });
  expect(found.map(({ sessions, title }) => [title, sessions.length])).toEqual([
    ['Cursor CLI', 1],
    ['the request logs of Aider', 1],
  ]);
});

test('the history of Aider is found in the folder of the project', async () => {
  const project = await homeWith(['.aider.chat.history.md']);
  const found = findSessions({ home: await homeWith([]), env: {}, project });
  expect(found.flatMap(({ format, sessions }) => sessions.map(({ path }) => [format, path]))).toEqual([
    ['aider', join(project, '.aider.chat.history.md')],
  ]);
});
