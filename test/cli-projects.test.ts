import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import { homeOnly, jsonLines, runCli } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

const AT_MS = Date.now();

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A database of opencode with one session per folder. */
function opencodeSessions(home: string, folders: Readonly<Record<string, string>>): void {
  const path = join(home, '.local/share/opencode/opencode.db');
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, agent TEXT, directory TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT, session_id TEXT, time_updated INTEGER)`);
  for (const [id, folder] of Object.entries(folders)) {
    database.prepare('INSERT INTO session VALUES (?, NULL, NULL, ?, ?)').run(id, folder, AT_MS);
    const data = JSON.stringify({ role: 'user', time: { created: AT_MS } });
    database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(`m${id}`, id, AT_MS, data);
    const part = JSON.stringify({ type: 'text', text: '"List the files."' });
    database.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?)').run(`p${id}`, `m${id}`, part, id, AT_MS);
  }
  database.close();
}

/** A session of Claude Code. */
function claudeSession(home: string, id: string, cwd: string): void {
  const timestamp = new Date(AT_MS).toISOString();
  const message = { role: 'user', content: 'Fix it' };
  const entry = { sessionId: id, cwd, timestamp, isSidechain: false, type: 'user', uuid: 'u', message };
  write(join(home, '.claude/projects/-x', `${id}.jsonl`), `${JSON.stringify(entry)}\n`);
}

test('a session of opencode has the project of its own folder, from wherever the report is called', async () => {
  const folder = testFolder();
  const home = join(folder, 'home');
  const projects = { ses_one: join(folder, 'shop'), ses_two: join(folder, 'lib') };
  for (const project of Object.values(projects)) mkdirSync(join(project, '.git'), { recursive: true });
  opencodeSessions(home, projects);
  for (const cwd of [folder, projects.ses_two]) {
    const { stdout } = await runCli(['report', '--json'], { cwd, env: homeOnly(home) });
    const found = jsonLines(stdout).flatMap(({ id, project }) => (id === undefined ? [] : [[id, project]]));
    expect(Object.fromEntries(found)).toEqual(projects);
  }
  const { stdout } = await runCli(['report', '--all'], { cwd: folder, env: homeOnly(home) });
  expect(stdout).toContain('List the files.');
  expect(stdout).not.toContain('"List the files."');
});

test('a git work tree has the name of its repository, also where the report is called in it', async () => {
  const folder = testFolder();
  const home = join(folder, 'home');
  const [main, tree] = [join(folder, 'shop'), join(folder, 'shop-wt')];
  write(join(main, '.git/HEAD'), 'ref: refs/heads/main\n');
  write(join(main, '.git/worktrees/wt/commondir'), '../..\n');
  write(join(main, '.git/worktrees/wt/gitdir'), `${join(tree, '.git')}\n`);
  write(join(tree, '.git'), `gitdir: ${join(main, '.git/worktrees/wt')}\n`);
  claudeSession(home, 'one', tree);
  const env = homeOnly(home);
  await runCli(['import', join(home, '.claude/projects/-x/one.jsonl')], { cwd: tree, env });
  for (const cwd of [main, tree, folder]) {
    const { stdout } = await runCli(['report', '--json', '--project', 'shop'], { cwd, env });
    expect(jsonLines(stdout)[0]).toMatchObject({ id: 'one', project: main });
  }
});

test('a name that no project has is refused with the names there are, also if it is like the file of a store', async () => {
  const folder = testFolder();
  const home = join(folder, 'home');
  const project = join(folder, 'my api');
  mkdirSync(join(project, '.git'), { recursive: true });
  claudeSession(home, 'one', project);
  const env = homeOnly(home);
  await runCli(['import', join(home, '.claude/projects/-x/one.jsonl')], { cwd: project, env });
  const { code, stderr } = await runCli(['report', '--project', 'my-api'], { cwd: folder, env });
  expect([code, stderr]).toEqual([1, 'coxswain: no run of a project my-api; it takes: my api\n']);
  let isOver = false;
  const watched = await runCli(['watch', '--project', 'nothing'], {
    cwd: folder,
    env,
    onStdout: ({ all, interrupt }) => {
      if (!isOver && all.includes('following')) setTimeout(interrupt, 3_000);
      isOver ||= all.includes('following');
    },
  });
  expect(watched.stderr).toContain('no run of a project nothing; it takes: my api; waiting for one');
});
