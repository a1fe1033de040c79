import { createHash, randomBytes } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

import { beforeEach, expect, test } from 'vitest';

import { findSources, folderOfFile, sessionFolder } from './find-sources.ts';
import { testFolder } from '../../test/support/test-folder.ts';

let root: string;

beforeEach(() => void (root = testFolder()));

async function write(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), 'content');
  }
}

/** Paths relative to the test's folder; `+` before those that were named. */
async function found(...paths: readonly string[]): Promise<readonly string[]> {
  const sources = await Array.fromAsync(findSources(paths.map((path) => (path === '-' ? path : join(root, path)))));
  return sources.map(({ path, named }) => `${named ? '+' : ''}${path === '-' ? path : relative(root, path)}`);
}

test('the folder of a session is known on any system', async () => {
  const path = join(root, 's.jsonl');
  await writeFile(path, `${JSON.stringify({ type: 'user', cwd: 'D:\\app' })}\n`);
  expect(await sessionFolder(path)).toBe('D:\\app');
  const content = 'You are told:\n* Current working directory: D:\\shop\n* Operating System: Windows_NT';
  await writeFile(path, JSON.stringify({ type: 'system.message', data: { content } }));
  expect(await sessionFolder(path)).toBe('D:\\shop');
  const text = '<environment_context>\n  <cwd>/work/shop</cwd>\n</environment_context>';
  await writeFile(path, JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }));
  expect(await sessionFolder(path)).toBe('/work/shop');
});

test('the folder of a compressed session is known, also when the part that is read ends within it', async () => {
  const path = join(root, 's.jsonl.gz');
  const lines = `${JSON.stringify({ type: 'user', cwd: '/home/ann/shop' })}\n`;
  await writeFile(path, gzipSync(lines + randomBytes(200_000).toString('base64')));
  expect(await sessionFolder(path)).toBe('/home/ann/shop');
});

test('a file is given as named, with its size', async () => {
  await write('a.json');
  const path = join(root, 'a.json');
  expect(await Array.fromAsync(findSources([path]))).toEqual([{ path, named: true, sizeBytes: 7 }]);
});

test('a folder is walked in order, files first, without hidden files, node_modules and .git', async () => {
  await write(
    'b.json',
    'a.json',
    'c/d/e.json',
    'c/b.json',
    '.hidden.json',
    '.git/x.json',
    'node_modules/p/x.json',
    '.x/y.json',
  );
  expect(await found('.')).toEqual(['a.json', 'b.json', 'c/b.json', 'c/d/e.json']);
});

test('linked files are read, linked folders are not walked, so a loop of links ends', async () => {
  await write('runs/a.json', 'elsewhere/b.json');
  await symlink(join(root, 'runs'), join(root, 'runs', 'loop'));
  await symlink(join(root, 'elsewhere', 'b.json'), join(root, 'runs', 'linked.json'));
  expect(await found('runs')).toEqual(['runs/a.json', 'runs/linked.json']);
});

test('a link that leads nowhere is given, so that opening it reports it', async () => {
  await mkdir(join(root, 'runs'));
  await symlink(join(root, 'gone.json'), join(root, 'runs', 'link.json'));
  expect(await found('runs')).toEqual(['runs/link.json']);
});

test('one real file is given once, under the name that came first', async () => {
  await write('a.json');
  await symlink(join(root, 'a.json'), join(root, 'z.json'));
  expect(await found('z.json', 'a.json', '.')).toEqual(['+z.json']);
});

test('a glob gives what matches as named, and a file of that very name goes before', async () => {
  await write('a1.json', 'a2.json', 'b.json', 'sub/a3.json', 'node_modules/a4.json');
  expect(await found('a*.json')).toEqual(['+a1.json', '+a2.json']);
  expect(await found('**/a*.json')).toEqual(['+a1.json', '+a2.json', '+sub/a3.json']);
  expect(await found('su*')).toEqual(['sub/a3.json']);
  await write('a[12].json');
  expect(await found('a[12].json')).toEqual(['+a[12].json']);
});

test('what does not exist is given as named, and the rest goes on', async () => {
  await write('a.json');
  expect(await found('gone.json', 'none*.json', 'a.json', '-')).toEqual(['+gone.json', '+none*.json', '+a.json', '+-']);
});

test('the subagent files of a session come right behind it, once', async () => {
  await write(
    's1.jsonl',
    's1/subagents/agent-2.jsonl',
    's1/subagents/agent-1.jsonl',
    's1/subagents/other.jsonl',
    's2.jsonl',
  );
  expect(await found('s1.jsonl', 's1/subagents/agent-1.jsonl')).toEqual([
    '+s1.jsonl',
    '+s1/subagents/agent-1.jsonl',
    '+s1/subagents/agent-2.jsonl',
  ]);
  expect(await found('.')).toEqual([
    's1.jsonl',
    's1/subagents/agent-1.jsonl',
    's1/subagents/agent-2.jsonl',
    's2.jsonl',
    's1/subagents/other.jsonl',
  ]);
});

test('of the files of a subagent that was resumed only the last one is given, which holds the entries of the others', async () => {
  await write('s.jsonl');
  const folder = join(root, 's/subagents');
  await mkdir(folder, { recursive: true });
  const lines = ['a', 'b', 'c'].map((uuid) => `${JSON.stringify({ type: 'user', uuid })}\n`);
  await writeFile(join(folder, 'agent-1.jsonl'), lines.slice(0, 2).join(''));
  await writeFile(join(folder, 'agent-2.jsonl'), lines.join(''));
  await writeFile(join(folder, 'agent-3.jsonl'), lines.slice(1).join(''));
  await writeFile(join(folder, 'agent-4.jsonl'), `${lines[0]}${JSON.stringify({ uuid: 'd' })}\n`);
  expect(await found('s.jsonl')).toEqual([
    '+s.jsonl',
    '+s/subagents/agent-2.jsonl',
    '+s/subagents/agent-3.jsonl',
    '+s/subagents/agent-4.jsonl',
  ]);
});

test('the session folders of agent programs are walked, although they are hidden', async () => {
  await write('home/.claude/settings.json', 'home/.claude/projects/-p/s.jsonl', 'home/.codex/sessions/r.jsonl');
  await write('home/.cache/x.json', 'home/.codex/auth.json', 'home/.kimi/sessions/p/1/wire.jsonl');
  await write('home/.qwen/projects/p/chats/c.jsonl', 'home/.qwen/settings.json', 'home/p/.aider.chat.history.md');
  expect(await found('.')).toEqual([
    'home/.claude/projects/-p/s.jsonl',
    'home/.codex/sessions/r.jsonl',
    'home/.kimi/sessions/p/1/wire.jsonl',
    'home/.qwen/projects/p/chats/c.jsonl',
    'home/p/.aider.chat.history.md',
  ]);
});

test('subagents of a workflow belong to the session, one folder deeper', async () => {
  await write('s.jsonl', 's/subagents/agent-a.jsonl', 's/subagents/workflows/wf_1/agent-b.jsonl');
  expect(await found('s.jsonl')).toEqual([
    '+s.jsonl',
    '+s/subagents/agent-a.jsonl',
    '+s/subagents/workflows/wf_1/agent-b.jsonl',
  ]);
});

test('a session file of opencode and its export say in which folder the session worked', async () => {
  const info = { id: 'ses_1', slug: 'calm-owl', directory: '/home/ann/a "shop"', time: { created: 1 } };
  for (const space of [0, 2])
    for (const file of [info, { info, messages: [{ parts: [{ directory: '/x' }] }] }]) {
      await writeFile(join(root, 's.json'), JSON.stringify(file, null, space));
      expect(await sessionFolder(join(root, 's.json'))).toBe('/home/ann/a "shop"');
    }
  await writeFile(join(root, 's.json'), JSON.stringify({ messages: [{ info: { directory: '/x' } }] }));
  expect(await sessionFolder(join(root, 's.json'))).toBeUndefined();
});

test('the folder of a chat of Gemini CLI is the path in the chats whose hash names their folder', async () => {
  const folder = 'C:\\Users\\ann lee\\shop';
  const projectHash = createHash('sha256').update(folder).digest('hex');
  const chat = async (name: string, ...contents: readonly string[]): Promise<string> => {
    const path = join(root, '.gemini', 'tmp', projectHash, 'chats', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, JSON.stringify({ projectHash, messages: contents.map((content) => ({ content })) }, null, 2));
    return path;
  };
  const without = await chat('session-a.json', 'Go.', '/home/ann/other');
  expect(await sessionFolder(without)).toBeUndefined();
  expect(folderOfFile(without)).toBe(dirname(dirname(without)));
  const named = await chat('session-b.json', `Hi.\nI read ${folder}\\src\\a.ts\nand /etc/hosts.`);
  expect(await sessionFolder(named)).toBe(folder);
  expect(await sessionFolder(without)).toBe(folder);
});
