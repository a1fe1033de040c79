import { expect, test } from 'vitest';

import { TEMPORARY, WorkFold } from './run-work.ts';
import { branchText, commitsText, pullRequestsText } from './work-text.ts';

const payload = { kind: 'turn_started', turn_index: 0 } as const;
const call = {
  number: 1,
  id: 'a',
  tool: 'Bash',
  seq: 0,
  endSeq: 1,
  startLost: false,
  failed: false,
  resultMissing: false,
};

test('commits and changed files count only calls with a result that did not fail', () => {
  const fold = new WorkFold();
  fold.fold(payload, { ...call, args: { command: 'git commit -m x' } });
  fold.fold(payload, { ...call, args: { command: 'touch a.ts' } });
  // The records do not contain the value of the variable.
  fold.fold(payload, { ...call, args: { command: 'echo hello > "$BODY_FILE"' } });
  fold.fold(payload, { ...call, args: { command: 'git commit -m y' }, failed: true });
  fold.fold(payload, { ...call, args: { command: 'git commit -m z' }, resultMissing: true });
  fold.fold(payload, { ...call, args: { command: 'touch b.ts' }, resultMissing: true });
  const chain = { command: 'rtk git add a.ts && rtk git commit -m "x"' };
  const blocked = 'ok ✓ 1 file changed\nFAILED: git commit\nhusky - pre-commit script failed (code 1)';
  const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result: blocked, is_error: false } as const;
  fold.fold(ended, { ...call, args: chain });
  const lastChange = { file: 'a.ts', number: 1 };
  expect(fold.work).toEqual({ commits: 1, uncommitted: 1, filesChanged: ['a.ts'], lastChange });
  // The calls of Codex: a command in `cmd`, and a patch of several files as a text.
  const patch = '*** Begin Patch\n*** Update File: b.ts\n-1\n+2\n*** Add File: c.ts\n+3\n*** End Patch';
  fold.fold(payload, { ...call, tool: 'exec_command', args: { cmd: 'git add b.ts && git commit -m "b"' } });
  fold.fold(payload, { ...call, tool: 'apply_patch', args: patch });
  fold.fold(payload, { ...call, args: { command: 'touch /tmp/x d.ts' } });
  expect(fold.work).toEqual({
    commits: 2,
    uncommitted: 3,
    filesChanged: ['a.ts', 'b.ts', 'c.ts', 'd.ts', '/tmp/x'],
    lastChange: { file: 'd.ts', number: 1 },
  });
});

test('a file that the run creates and removes again is not changed, and one that it removes only is', () => {
  const fold = new WorkFold();
  const ended = (result: string) =>
    ({ kind: 'tool_ended', tool_call_id: 'a', tool_name: 'x', result, is_error: false }) as const;
  const created = ended('File created successfully at: /p/tree/status.ts');
  fold.fold(created, { ...call, tool: 'Write', args: { file_path: '/p/tree/status.ts', content: 'a' } });
  fold.fold(payload, { ...call, tool: 'Edit', args: { file_path: '/p/kept.ts', old_string: 'a', new_string: 'b' } });
  fold.fold(payload, { ...call, args: { command: 'echo x > fixtures/big.txt' } });
  fold.fold(payload, { ...call, args: { command: 'cd /p && rm -f tree/status.ts old.ts' } });
  fold.fold(payload, { ...call, args: { command: 'rm -rf "fixtures"' } });
  fold.fold(payload, { ...call, args: { command: 'rm /p/kept.ts' } });
  expect(fold.work.filesChanged).toEqual(['/p/kept.ts', 'old.ts']);
});

test('a file that a script in a command writes is changed, and one whose only edit is put back is not', () => {
  const fold = new WorkFold();
  const script = "python3 - <<'EOF'\npath = 'src/a.ts'\ns = open(path).read()\nopen(path, 'w').write(s)\nEOF";
  fold.fold(payload, { ...call, args: { command: script }, kind: 'execute' });
  fold.fold(payload, { ...call, args: { command: `node -e "fs.writeFileSync('b.json', '1')"` }, kind: 'execute' });
  fold.fold(payload, {
    ...call,
    args: { command: `python3 -c "print(open('read.txt', 'r').read())"` },
    kind: 'execute',
  });
  const edit = (file: string, before: string, after: string) =>
    fold.fold(payload, { ...call, tool: 'Edit', args: { file_path: file, old_string: before, new_string: after } });
  edit('.gitignore', 'a', 'a\nb');
  edit('c.ts', '1', '2');
  edit('.gitignore', 'a\nb', 'a');
  edit('d.ts', '1', '2');
  edit('d.ts', '5', '6');
  edit('d.ts', '2', '1');
  expect(fold.work.filesChanged).toEqual(['src/a.ts', 'b.json', 'c.ts', 'd.ts']);
});

test('a file that is edited again and again stays changed, and is not forgotten for its last edit', () => {
  const fold = new WorkFold();
  const edit = (before: string, after: string) =>
    fold.fold(payload, { ...call, tool: 'Edit', args: { file_path: 'a.ts', old_string: before, new_string: after } });
  for (let version = 0; version < 60; version += 1) {
    edit(`v${version}`, `v${version + 1}`);
    expect(fold.work.filesChanged).toEqual(['a.ts']);
  }
  edit('v60', 'v59');
  expect(fold.work.filesChanged).toEqual(['a.ts']);
});

test('each pull request of a run is named, three of them with a count of the others', () => {
  const fold = new WorkFold();
  const make = (...addresses: readonly string[]): void => {
    const result = addresses.join('\n');
    const made = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: false } as const;
    fold.fold(made, { ...call, args: { command: addresses.map(() => 'gh pr create --fill').join(' && ') } });
  };
  const [one = '', ...more] = [1, 2, 3, 4].map((number) => `https://github.com/a/b/pull/${number}`);
  make(one);
  expect(pullRequestsText(fold.work)).toEqual([one]);
  make(one, ...more);
  expect(pullRequestsText(fold.work)).toEqual(['https://github.com/a/b/pull/4, 3, 2 and 1 more']);
  make('https://gitlab.com/c/merge_requests/9');
  expect(pullRequestsText(fold.work)).toEqual([
    'https://gitlab.com/c/merge_requests/9, https://github.com/a/b/pull/4, https://github.com/a/b/pull/3 and 2 more',
  ]);
});

test('a commit that replaces one of the run is no further commit, and a rebase commits what was changed', () => {
  const fold = new WorkFold();
  fold.fold(payload, { ...call, args: { command: 'touch a.ts && git commit -m x' } });
  fold.fold(payload, { ...call, args: { command: 'git add a.ts && git commit --amend --no-edit' } });
  fold.fold(payload, { ...call, args: { file_path: 'b.ts', content: 'b' }, tool: 'Write' });
  expect(fold.work).toMatchObject({ commits: 1, uncommitted: 1 });
  const address = 'https://github.com/a/b/pull/7';
  const made = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result: address, is_error: false } as const;
  fold.fold(made, { ...call, args: { command: 'git commit --amend --no-edit && gh pr create --fill' } });
  expect(fold.work).toMatchObject({ commits: 1, pullRequests: [address] });
  fold.fold(payload, { ...call, args: { file_path: 'b.ts', content: 'b' }, tool: 'Write' });
  const result = '[detached HEAD e1a0f76] fix\n 2 files changed\nSuccessfully rebased and updated refs/heads/x.';
  const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: false } as const;
  fold.fold(ended, { ...call, args: { command: 'git add b.ts && GIT_EDITOR=true git rebase --continue' } });
  expect(fold.work).toMatchObject({ commits: 1, uncommitted: 0 });
  const other = new WorkFold();
  other.fold(payload, { ...call, args: { command: 'git commit --amend --no-edit' } });
  expect(other.work.commits).toBe(1);
});

test('commits of one line that print nothing are counted by their commands, without the words of a message', () => {
  const fold = new WorkFold();
  const line =
    "git add a && git commit -q -F - <<'EOF'\na\n\nrun git commit again\nEOF\ngit -C . commit -qm 'git commit b' && git log --oneline -2";
  const ended = {
    kind: 'tool_ended',
    tool_call_id: 'a',
    tool_name: 'Bash',
    result: '1111111 b\n2222222 a',
    is_error: false,
  } as const;
  fold.fold(ended, { ...call, args: { command: line } });
  expect(fold.work.commits).toBe(2);
});

test('a commit to a trial repository below /tmp is no commit of the project', () => {
  const line = 'cd /private/tmp/x && mkdir trial && cd trial && git init -q && git add -A && git commit -qm x';
  expect(workAfter(line).work.commits).toBe(0);
  expect(workAfter('git init && git add -A && git commit -qm x').work.commits).toBe(1);
});

test('a commit that a rebase or a reset makes again counts once', () => {
  const fold = new WorkFold();
  const run = (command: string, result: string): readonly string[] => {
    const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: false } as const;
    fold.fold(ended, { ...call, args: { command } });
    return commitsText(fold.work);
  };
  const date = '\n Date: Thu Jun 18 07:57:25 2026 +0200';
  expect(run('git commit -m wip && git commit -m wip', '[fix 11111aa] wip\n[fix 22222aa] wip')).toEqual([
    '2 commits on fix',
  ]);
  expect(run('git commit -m b', '[fix 33333aa] b')).toEqual(['3 commits on fix']);
  run('git rebase main', 'CONFLICT (content): Merge conflict in a.ts');
  expect(run('git add . && git commit --no-edit', `[detached HEAD 44444aa] b${date}\n 1 file changed`)).toEqual([
    '3 commits on fix',
  ]);
  // The rebase also makes a commit of an earlier session again.
  expect(run('git commit --no-edit', `[detached HEAD 55555aa] older${date}`)).toEqual(['3 commits on fix']);
  expect(run('git reset --soft HEAD~1 && git commit -m b', '[fix 66666aa] b')).toEqual(['3 commits on fix']);
  expect(run('git commit -m c', '[fix 77777aa] c')).toEqual(['4 commits on fix']);
});

test('each commit that a line prints counts, in a loop, beside an amended one, and again on another branch', () => {
  const fold = new WorkFold();
  const run = (command: string, result: string): readonly string[] => {
    const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: false } as const;
    fold.fold(ended, { ...call, args: { command } });
    return commitsText(fold.work);
  };
  run('git rebase main', '');
  const loop = 'for r in a b c; do (cd $r && git commit -am "bump"); done';
  expect(run(loop, '[main 1111111] bump\n[main 2222222] bump\n[main 3333333] bump')).toEqual(['3 commits on main']);
  const amended = 'git add a && git commit --amend --no-edit >/dev/null && git add b && git commit -m "docs"';
  expect(run(amended, '[main 4444444] docs\n 1 file changed')).toEqual(['4 commits on main']);
  expect(run('git commit -m x && git commit --amend -m y', '[main 5555555] x\n[main 6666666] y')).toEqual([
    '5 commits on main',
  ]);
  expect(run('git commit -am bump', '[main 7777777] bump')).toEqual(['5 commits on main']);
  run('git commit -am bump', '[fix/#12+a 8888888] bump');
  expect(fold.work.commitsOn).toEqual({ main: 5, 'fix/#12+a': 1 });
});

test('a commit that a reset takes back, and one that a rebase amends, is no commit of the run', () => {
  const run = (...commands: readonly (readonly [command: string, result: string])[]): readonly string[] => {
    const fold = new WorkFold();
    for (const [command, result] of commands) {
      const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: false } as const;
      fold.fold(ended, { ...call, args: { command } });
    }
    return commitsText(fold.work);
  };
  const [a, b] = [['git commit -m a', '[main 1111111] a'] as const, ['git commit -m b', '[main 2222222] b'] as const];
  expect(run(a, b, ['git reset --soft HEAD~1', ''])).toEqual(['1 commit on main']);
  expect(run(a, b, ['git reset HEAD^^', ''])).toEqual([]);
  expect(run(a, ['git reset HEAD~1 -- a.ts', ''])).toEqual(['1 commit on main']);
  expect(run(a, ['git reset --soft @~1 && git commit -m other', '[main 3333333] other'])).toEqual(['1 commit on main']);
  const rebase = "git rebase HEAD~3 --exec 'git commit --amend --no-edit --trailer x'";
  expect(run([rebase, '[detached HEAD 4444444] old\n Date: Thu Jun 18 07:57:25 2026 +0200'])).toEqual([]);
  const revert = ['git revert --no-edit 1111111', '[main 6666666] Revert "a"\n 1 file changed'] as const;
  expect(run(a, revert)).toEqual(['2 commits on main']);
  expect(run(a, ['git revert --no-edit 1111111', 'error: could not revert'])).toEqual(['1 commit on main']);
  const fixup = ['git commit --fixup 3f602d1', '[main 5555555] fixup! old'] as const;
  const squash = ['git rebase -i --autosquash HEAD~3', 'Successfully rebased and updated refs/heads/main.'] as const;
  expect(run(a, fixup)).toEqual(['2 commits on main']);
  expect(run(a, fixup, squash)).toEqual(['1 commit on main', 'then rewrote history']);
  expect(run(a, [`${fixup[0]} && ${squash[0]}`, `${fixup[1]}\n${squash[1]}`])).toEqual([
    '1 commit on main',
    'then rewrote history',
  ]);
  expect(run(a, ['git reset --hard HEAD', ''], ['git reset --hard origin/main', ''])).toEqual(['1 commit on main']);
  expect(run(a, ['git reset --hard rewritten', ''])).toEqual(['1 commit on main', 'then rewrote history']);
  expect(run(['git rebase --onto main old', ''], a)).toEqual(['1 commit on main']);
});

test('scripts of Python and PowerShell change the files that they name', () => {
  expect(changedAfter("python - <<'EOF'\np = r'.github/a.json'\nopen(p, 'w').write(s)\nEOF")).toContain(
    '.github/a.json',
  );
  expect(changedAfter('Set-Content -Path \'x/sh.cmd\' -Value $text; Add-Content "y/b.txt" $more')).toEqual([
    'a.ts',
    'b.ts',
    'new.ts',
    'x/sh.cmd',
    'y/b.txt',
  ]);
});

test('a file that one patch adds and another one deletes is not changed', () => {
  const fold = new WorkFold();
  for (const line of ['*** Add File: p/a.html\n+x', '*** Update File: b.ts\n@@\n-1\n+2', '*** Delete File: p/a.html']) {
    const input = `*** Begin Patch\n${line}\n*** End Patch`;
    fold.fold(payload, { ...call, tool: 'apply_patch', args: { input } });
  }
  expect(fold.work.filesChanged).toEqual(['b.ts']);
});

test('a file that one patch deletes and adds again is changed', () => {
  const fold = new WorkFold();
  const input = '*** Begin Patch\n*** Delete File: plan.md\n*** Add File: plan.md\n+new\n*** End Patch';
  for (let time = 0; time < 2; time += 1) fold.fold(payload, { ...call, tool: 'apply_patch', args: { input } });
  expect(fold.work.filesChanged).toEqual(['plan.md']);
});

test('an archive that is unpacked is not changed', () => {
  expect(changedAfter('unzip -q up/data.zip -d up/')).not.toContain('up/data.zip');
  expect(changedAfter('tar -xzf up/data.tgz')).not.toContain('up/data.tgz');
  expect(changedAfter('tar -czf up/data.tgz src')).toContain('up/data.tgz');
});

test('a script of sed is no file', () => {
  expect(changedAfter(`sed -i 's/scram-sha-256/md5/g' "$PG_HBA"`)).not.toContain('s/scram-sha-256/md5/g');
});

test('an edit by a tool of Serena changes its file', () => {
  const fold = new WorkFold();
  const args = { relative_path: 'src/a.ts', regex: 'a', repl: 'b' };
  fold.fold(payload, { ...call, tool: 'mcp__serena__replace_regex', args });
  expect(fold.work.filesChanged).toEqual(['src/a.ts']);
});

test('a refused plan or question is a declined one', () => {
  const fold = new WorkFold();
  for (const tool of ['ExitPlanMode', 'AskUserQuestion', 'Bash'])
    fold.fold(payload, { ...call, args: {}, tool, outcome: 'refused' });
  expect(fold.work.declined).toBe(2);
});

test('a commit in the background counts when its output says so', () => {
  const fold = new WorkFold();
  const ended = (result: string) =>
    ({ kind: 'tool_ended', tool_call_id: 'a', tool_name: 'x', result, is_error: false }) as const;
  const running = ended('Wall time: 1.0 seconds\nProcess running with session ID 66611\nOutput:\n');
  fold.fold(running, { ...call, tool: 'exec_command', args: { cmd: 'git commit -m "Add a"' } });
  expect(fold.work.commits).toBe(0);
  const poll = { ...call, tool: 'write_stdin', kind: 'poll', args: { session_id: 66_611, chars: '' } } as const;
  fold.fold(ended('Process running with session ID 66611'), poll);
  fold.fold(ended('Process exited with code 0\nOutput:\n[main b9c5830] Add a\n 1 file changed'), poll);
  expect(fold.work).toMatchObject({ commits: 1, commitsOn: { main: 1 } });
});

test('commits that skip their hooks are counted, and said', () => {
  const commandsText = (...commands: readonly string[]): readonly string[] => {
    const fold = new WorkFold();
    for (const command of commands) fold.fold(payload, { ...call, args: { command } });
    return commitsText(fold.work);
  };
  expect(commandsText('git commit -m "no-verify -n"')).toEqual(['1 commit']);
  expect(commandsText('git -C /w commit --no-verify -m x')).toEqual(['1 commit, with --no-verify']);
  expect(commandsText('git commit -m x', 'git commit -n -m y && git push')).toEqual([
    '2 commits, 1 of them with --no-verify',
  ]);
  expect(commandsText(`git commit -m "$(cat <<'EOF'\nfix: "a"; it's -n\nEOF\n)" --no-verify`)).toEqual([
    '1 commit, with --no-verify',
  ]);
  expect(commandsText(`git commit -m "$(cat <<'EOF'\nsay --no-verify\nEOF\n)"`)).toEqual(['1 commit']);
  expect(commandsText('ls')).toEqual([]);
});

test('commits are said with the branch that git named for them, and another branch apart', () => {
  const fold = new WorkFold();
  const run = (command: string, result: string): readonly string[] => {
    const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: false } as const;
    fold.fold(ended, { ...call, args: { command } });
    return [...commitsText(fold.work), ...branchText(fold.work)];
  };
  expect(run('git commit -m x', '[main d513d5a] x')).toEqual(['1 commit on main']);
  expect(run('git checkout -b fix/login', '')).toEqual(['1 commit on main', 'branch fix/login']);
  expect(run('git commit -q -m y', '')).toEqual(['2 commits, 1 of them seen on main', 'branch fix/login']);
  expect(run('git commit -m z', '[fix/login d513d5b] z')).toEqual(['3 commits, 2 of them seen on 2 branches']);
});

test('the last change is one of a source, not of a text, a temporary file or a file of the agent program', () => {
  const fold = new WorkFold();
  for (const file of ['src/a.ts', '/tmp/b.ts', 'README.md', '/home/ann/.claude/settings.json'])
    fold.fold(payload, { ...call, tool: 'Write', args: { file_path: file, content: 'x' } });
  expect(fold.work.lastChange).toEqual({ file: 'src/a.ts', number: 1 });
  // Plans and memories are notes of the program.
  const before = fold.work.filesChanged;
  for (const note of ['plans/calm-fox.md', 'projects/-w-app/memory/MEMORY.md'])
    fold.fold(payload, { ...call, tool: 'Write', args: { file_path: `/home/ann/.claude/${note}`, content: 'x' } });
  expect(fold.work.filesChanged).toEqual(before);
});

test('the absolute and the relative path of a file count once', () => {
  const fold = new WorkFold();
  for (const command of [
    'touch src/a.ts',
    'touch /w/app/src/a.ts',
    'touch ./src/a.ts',
    'touch /w/app/b.ts',
    'touch b.ts',
  ])
    fold.fold(payload, { ...call, args: { command } });
  fold.fold(payload, { ...call, args: { command: 'touch /w/app/src/b.ts' } });
  expect(fold.work).toMatchObject({ uncommitted: 3, filesChanged: ['src/a.ts', '/w/app/b.ts', '/w/app/src/b.ts'] });
});

/** The changed files after edits of `a.ts` and `b.ts`, a new file `new.ts`, and these commands. */
function changedAfter(...commands: readonly string[]): readonly string[] {
  const fold = new WorkFold();
  for (const file of ['a.ts', 'b.ts'])
    fold.fold(payload, { ...call, tool: 'Edit', args: { file_path: file, old_string: '1', new_string: '2' } });
  fold.fold(payload, { ...call, args: { command: 'echo 1 > new.ts' } });
  for (const command of commands) fold.fold(payload, { ...call, args: { command } });
  return fold.work.filesChanged;
}

test('a file that a command names after it has entered a folder has its path there', () => {
  const fold = new WorkFold();
  for (const command of [
    'cd /w/app/.worktrees/one && echo x >> .gitignore',
    'cd "/w/my app"; sed -i s/a/b/ src/a.ts',
    "cd /w/app && python3 -c \"open('b.json', 'w')\" && touch /w/c.ts ~/d.ts",
    'cd "$ROOT" && touch e.ts',
    'touch .gitignore',
  ])
    fold.fold(payload, { ...call, args: { command } });
  expect(fold.work.filesChanged).toEqual([
    '/w/app/.worktrees/one/.gitignore',
    '/w/my app/src/a.ts',
    '/w/app/b.json',
    '/w/c.ts',
    '~/d.ts',
    'e.ts',
  ]);
});

test('edits that git discards are no changes, unless the run committed them', () => {
  expect(changedAfter('git checkout -- a.ts')).toEqual(['b.ts', 'new.ts']);
  expect(changedAfter('git restore a.ts b.ts')).toEqual(['new.ts']);
  expect(changedAfter('git -C . checkout .')).toEqual(['new.ts']);
  expect(changedAfter('git reset --hard HEAD && git clean -fd')).toEqual([]);
  const all = ['a.ts', 'b.ts', 'new.ts'];
  for (const keeps of ['git restore --staged a.ts', 'git checkout main', 'git reset --soft HEAD~1', 'git clean -nd'])
    expect(changedAfter(keeps)).toEqual(all);
  expect(changedAfter('git add -A && git commit -m x', 'git reset --hard origin/main')).toEqual(all);
  expect(changedAfter(`git commit -m "no git reset --hard"`)).toEqual(all);
});

test('edits in a stash are changes again when it is applied', () => {
  expect(changedAfter('git stash; npm test; git stash pop').toSorted()).toEqual(['a.ts', 'b.ts', 'new.ts']);
  expect(changedAfter('git stash -u; npm test; git stash pop').toSorted()).toEqual(['a.ts', 'b.ts', 'new.ts']);
  expect(changedAfter('git stash -u', 'git stash drop')).toEqual([]);
  expect(changedAfter('git stash push -- a.ts')).toEqual(['b.ts', 'new.ts']);
  expect(changedAfter('git stash -q', 'git stash drop')).toEqual(['new.ts']);
  expect(changedAfter('git stash list')).toEqual(['a.ts', 'b.ts', 'new.ts']);
});

test('every file that a command names is changed, and a moved one has its new name', () => {
  expect(changedAfter(`sed -i '' 's/x/y/' c.ts src/d.ts`)).toEqual(['a.ts', 'b.ts', 'new.ts', 'c.ts', 'src/d.ts']);
  expect(changedAfter(`perl -pi -e 's/x/y/' c.ts d.ts`)).toEqual(['a.ts', 'b.ts', 'new.ts', 'c.ts', 'd.ts']);
  expect(changedAfter('git mv a.ts lib/z.ts', 'mv b.ts new.ts lib/')).toEqual(['lib/z.ts', 'lib/b.ts', 'lib/new.ts']);
  expect(changedAfter('touch lib/old/x.ts lib/old/y/z.ts', 'git mv lib/old lib/new')).toEqual([
    'a.ts',
    'b.ts',
    'new.ts',
    'lib/new/x.ts',
    'lib/new/y/z.ts',
  ]);
  expect(changedAfter('cp lib/c.ts d.ts "$PLACE/"')).toEqual(['a.ts', 'b.ts', 'new.ts']);
  expect(changedAfter('touch /w/app/lib/old/x.ts', 'cp -r lib/old lib/new && rm -rf lib/old')).toEqual([
    'a.ts',
    'b.ts',
    'new.ts',
  ]);
  expect(changedAfter('cp /tmp/x.ts lib/x.ts; go test; rm -f lib/y.ts', 'rm /w/lib/x.ts')).not.toContain('lib/x.ts');
  expect(changedAfter('mv new.ts /tmp/new.ts', 'rm /tmp/new.ts')).toEqual(['a.ts', 'b.ts']);
  expect(changedAfter('cat > probe.ts <<EOF\n1\nEOF\nnpm test > /tmp/log 2>&1; rm -f probe.ts')).not.toContain(
    'probe.ts',
  );
  expect(changedAfter(`sed -n '1,5p' c.ts`)).toEqual(['a.ts', 'b.ts', 'new.ts']);
});

test('a patch in a script names its files', () => {
  const fold = new WorkFold();
  const input =
    'const patch = "*** Begin Patch\\n*** Update File: src/a.ts\\n@@\\n-1\\n+2\\n*** End Patch"; tools.apply_patch(patch)';
  fold.fold(payload, { ...call, tool: 'exec', kind: 'execute', args: { input } });
  expect(fold.work.filesChanged).toEqual(['src/a.ts']);
});

test('an arrow function in a script that a tool runs writes no file', () => {
  const fold = new WorkFold();
  fold.fold(payload, { ...call, tool: 'exec', args: { input: 'const key = e=>`${e.Kind}`, base = e => Kind;' } });
  fold.fold(payload, { ...call, tool: 'Workflow', args: { script: 'export const a = (b) => NakWithDelay > 3' } });
  expect(fold.work.filesChanged).toEqual([]);
});

test('a folder or a page is no changed file', () => {
  const fold = new WorkFold();
  for (const command of [
    'rm -rf packages/eval',
    'cp a.ts src/lib',
    'mv b.ts web/',
    'chmod -R u+w ./bin',
    'cp .env.example .env',
  ])
    fold.fold(payload, { ...call, args: { command } });
  fold.fold(payload, { ...call, tool: 'create_directory', args: { path: '/w/app/new' } });
  fold.fold(payload, { ...call, tool: 'deploy', args: { cwd: '/w/app' } });
  fold.fold(payload, { ...call, tool: 'update_page', args: { url: 'https://example.org/a' } });
  for (const command of ['echo x > bin/run', 'touch docker/Dockerfile', 'rm bin/old'])
    fold.fold(payload, { ...call, args: { command } });
  fold.fold(payload, { ...call, tool: 'Write', args: { file_path: '/w/app/LICENSE', content: 'x' } });
  fold.fold(payload, { ...call, tool: 'edit', args: { path: '/w/app' } });
  expect(fold.work.filesChanged).toEqual([
    'src/lib/a.ts',
    'web/b.ts',
    '.env',
    'bin/run',
    'docker/Dockerfile',
    'bin/old',
    '/w/app/LICENSE',
  ]);
});

test('the last message is what the agent said, not the error that a model or a host gave in its place', () => {
  const fold = new WorkFold();
  const said = (content: string, error?: string) =>
    fold.fold(
      {
        kind: 'message_appended',
        message: { role: 'assistant', content, ...(error === undefined ? {} : { error_message: error }) },
      },
      undefined,
    );
  said('I begin with the tests.');
  said('The operation was aborted.', 'The operation was aborted.');
  expect(fold.work.lastMessage).toBe('I begin with the tests.');
  said('Half of the tests', 'The operation was aborted.');
  expect(fold.work.lastMessage).toBe('Half of the tests');
});

test('every file that a command removes by name is changed', () => {
  const fold = new WorkFold();
  fold.fold(payload, { ...call, args: { command: 'cd /p && rm -f fixtures/a.toml fixtures/b.toml && rm -rf dist' } });
  expect(fold.work.filesChanged).toEqual(['fixtures/a.toml', 'fixtures/b.toml']);
});

test('a folder that is copied, or moved aside and removed, is no changed file', () => {
  const fold = new WorkFold();
  const ran = (command: string): void => fold.fold(payload, { ...call, args: { command } });
  ran('cp -r skills.d skills.bak && mv app.old app.bak; cp -R new.app app.old; rm -rf app.bak');
  ran('cp a.ts b.ts && mv c.ts d.ts && rm -rf e.ts');
  expect(fold.work.filesChanged).toEqual(['b.ts', 'd.ts', 'e.ts']);
});

test('a call that fails after it wrote files changed them, if nothing could keep it from that', () => {
  const filesAfter = (command: string, result: string): readonly string[] => {
    const fold = new WorkFold();
    const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: true } as const;
    fold.fold(ended, { ...call, failed: true, args: { command } });
    return fold.work.filesChanged;
  };
  const write = "cd /w/app && mkdir -p src && cat > src/a.ts <<'EOF'\nlet a;\nEOF\n";
  expect(filesAfter(`${write}npm test`, 'Exit code 1\n1 failed')).toEqual(['/w/app/src/a.ts']);
  expect(filesAfter("sed -i 's/a/b/' a.ts && npm test && touch b.ts", 'Exit code 1\n1 failed')).toEqual(['a.ts']);
  expect(filesAfter('npm run build; echo x > a.ts; npm test', 'Exit code 1\n1 failed')).toEqual(['a.ts']);
  for (const [command, result] of [
    [`${write}npm test`, 'Exit code 1\n/bin/bash: line 1: cd: /w/app: No such file or directory'],
    [`${write}npm test`, 'Output: mkdir: src: Permission denied\nExit Code: 1'],
    [`${write}npm test`, 'This command needs your approval'],
    ['npm test && touch b.ts', 'Exit code 1\n1 failed'],
    ['touch b.ts 2>/dev/null && npm test', 'Exit code 1\n1 failed'],
    ['set -e; npm test; touch b.ts', 'Exit code 1\n1 failed'],
    ['npm test || exit 1; touch b.ts', 'Exit code 1\n1 failed'],
  ] as const)
    expect(filesAfter(command, result)).toEqual([]);
});

test('the folders of temporary files of all systems are known', () => {
  const places = ['/tmp/a', '/private/tmp/a', '/var/folders/hs/x/T/a.md', 'C:\\Users\\ann\\AppData\\Local\\Temp\\a.md'];
  expect(places.filter((path) => !TEMPORARY.test(path))).toEqual([]);
  expect(['/home/ann/tmp/a', 'var/folders/a', '/srv/AppData/a'].filter((path) => TEMPORARY.test(path))).toEqual([]);
});

function workAfter(...commands: readonly string[]): WorkFold {
  const fold = new WorkFold();
  for (const [index, command] of commands.entries())
    fold.fold(payload, { ...call, number: index + 1, args: { command } });
  return fold;
}

test('a file that was made and removed again is a change only for a check that ran between', () => {
  const fold = workAfter('touch a.ts', 'npm test', 'go build -o x && touch scratch.bin', 'rm scratch.bin');
  expect(fold.work.lastChange).toEqual({ file: 'a.ts', number: 1 });
  expect(fold.changes).toContainEqual({ file: 'scratch.bin', number: 4, from: 3 });
});

test('a patch that an older Codex gives to apply_patch names its files, and its text is no command', () => {
  const fold = new WorkFold();
  const patch = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-npm test\n+git commit -m x\n*** End Patch';
  fold.fold(payload, { ...call, tool: 'shell', args: { command: ['apply_patch', patch] } });
  expect(fold.work).toMatchObject({ commits: 0, filesChanged: ['src/a.ts'] });
});

test('a commit counts if the push after it failed', () => {
  const fold = new WorkFold();
  const result = '[main 68e250b] feat: panel\n 1 file changed\nfatal: could not read from remote repository';
  const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: true } as const;
  fold.fold(ended, { ...call, args: { command: 'git commit -m "feat: panel" && git push' }, failed: true });
  expect(fold.work).toMatchObject({ commits: 1, commitsOn: { main: 1 } });
});

test('a search for commits, a folder made for a trial and what a program keeps for itself are no work', () => {
  const trial = 'cd "$(mktemp -d /tmp/x.XXXX)" && git init -q . && touch New.go && git commit -qm x';
  const named = 'dir=$(mktemp -d)\ntrap "rm -rf $dir" EXIT\ncd "$dir"\ntouch mise.toml';
  const own = ['touch /home/me/.claude/projects/-work-app/workflows/audit.js', 'rm -f .git/index.lock'];
  const searches = ["ps aux | rg 'git commit'", 'grep -rn "git commit" .'];
  const { commits, filesChanged } = workAfter(...searches, trial, named, ...own).work;
  expect([commits, filesChanged]).toEqual([0, []]);
  expect(workAfter('git log | grep x; git commit -m "y"').work.commits).toBe(1);
});

test('the text of a document is no command, and a long one hides none', () => {
  const text = 'Do not run `git commit` or git reset --hard other.\n'.repeat(500);
  const line = `rm -f new.ts\ncat > docs/a.md <<'EOF'\n${text}EOF\ncat > b.md <<EOF\n${text}EOF`;
  expect(changedAfter(line)).toEqual(['a.ts', 'b.ts', 'docs/a.md', 'b.md']);
  expect(workAfter(line).work.commits).toBe(0);
  expect(workAfter("bash <<'EOF'\ngit commit -qm x\nEOF").work.commits).toBe(1);
  expect(changedAfter(`@'\ngit commit\n'@ | Set-Content -Encoding utf8 -Path C:\\p\\plan.md`)).toContain(
    'C:/p/plan.md',
  );
  expect(changedAfter("$tasks = 'specs/tasks.md'; $new | Out-File -FilePath $tasks")).toContain('specs/tasks.md');
  expect(changedAfter('$text | Set-Content docs\\log.md')).toContain('docs/log.md');
});

test('a commit whose command runs on is one of its branch, and one in the JSON of old Codex too', () => {
  const fold = new WorkFold();
  for (const result of [
    'Wall time: 1.0 seconds\nProcess running with session ID 96051\nOutput:\n[a 676f068] One\n 7 files changed',
    { output: '[a 676f069] Two\n 1 file changed', metadata: { exit_code: 0 } },
    '{"output":"[a 676f070] Three\\n 1 file changed","metadata":{"exit_code":0}}',
  ]) {
    const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'shell', result, is_error: false } as const;
    fold.fold(ended, { ...call, args: { command: 'git add . && git commit -m x && git push' } });
  }
  expect(commitsText(fold.work)).toEqual(['3 commits on a']);
});

test('files of a temporary folder in the own folder of a program are temporary', () => {
  expect(TEMPORARY.test('.entire/tmp/ses_1.json')).toBe(true);
  expect(TEMPORARY.test('tmp/a.ts')).toBe(false);
});

test("what a reset or a revert takes back of the run's own commits is not changed", () => {
  const fold = new WorkFold();
  const ran = (command: string, result = ''): void =>
    fold.fold(
      { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'Bash', result, is_error: false },
      { ...call, args: { command } },
    );
  ran('sed -i s/a/b/ one.ts');
  ran('git commit -am one', '[main 1111111] one');
  ran('sed -i s/a/b/ two.ts');
  ran('git commit -am two', '[main 2222222] two');
  ran('sed -i s/a/b/ one.ts && echo x > three.ts');
  ran('git add . && git commit -m three', '[main 3333333] three');
  expect(fold.work).toMatchObject({ filesChanged: ['one.ts', 'two.ts', 'three.ts'], uncommitted: 0, commits: 3 });
  ran('git revert --no-edit 2222222', '[main 4444444] Revert "two"\n Date: Tue Jul 21 2026');
  expect(fold.work).toMatchObject({ filesChanged: ['one.ts', 'three.ts'], commits: 4 });
  ran('git reset HEAD~1');
  ran('git reset --soft HEAD~1');
  expect(fold.work).toMatchObject({ filesChanged: ['one.ts', 'three.ts'], uncommitted: 1, commits: 2 });
  ran('git commit -qm three');
  ran('git reset --hard HEAD~1');
  expect(fold.work).toMatchObject({ filesChanged: ['one.ts'], uncommitted: 0, commits: 2 });
  ran('echo x > four.ts');
  ran('gt create -am four', ' 1 file changed, 1 insertion(+)');
  expect(fold.work).toMatchObject({ filesChanged: ['one.ts', 'four.ts'], uncommitted: 0, commits: 3 });
  ran('gt create five', 'No staged changes; created a branch with no commit.');
  ran('git reset --hard HEAD~1');
  ran('echo x > probe.md');
  ran('git add probe.md && git commit -qm probe && git push -q');
  ran('git revert --no-edit 5555555', '[main 6666666] Revert "probe"\n 1 file changed\n delete mode 100644 probe.md');
  expect(fold.work.filesChanged).toEqual(['one.ts']);
});

test('a checkout of files puts them back, of those of another commit writes them, and of a branch does neither', () => {
  const fold = new WorkFold();
  const ran = (command: string): void => fold.fold(payload, { ...call, args: { command } });
  ran('sed -i s/a/b/ src/a.ts src/b.ts src/c.ts src/d.ts');
  ran('git checkout src/a.ts 2>&1');
  ran('git checkout HEAD src/b.ts && git restore --source=HEAD -- src/c.ts');
  expect(fold.work.filesChanged).toEqual(['src/d.ts']);
  ran('git checkout feature/d && git checkout -b src/e.ts origin/d.ts && git checkout --ours src/d.ts');
  expect(fold.work.filesChanged).toEqual(['src/d.ts']);
  ran('git checkout main -- src/f.ts && git restore -s v1 src/g.ts && git checkout v2 src/d.ts');
  expect(fold.work.filesChanged).toEqual(['src/d.ts', 'src/f.ts', 'src/g.ts']);
});

test('the old name of a moved file is no change, also if git then forgets it', () => {
  const fold = new WorkFold();
  const ran = (command: string): void => fold.fold(payload, { ...call, args: { command } });
  ran('mv todo/a.md done/');
  ran('git add done/a.md && git rm --cached todo/a.md');
  ran('git mv b.ts c.ts && git rm b.ts');
  expect(fold.work.filesChanged).toEqual(['done/a.md', 'c.ts']);
  ran('git rm old.ts');
  expect(fold.work.filesChanged).toEqual(['done/a.md', 'c.ts', 'old.ts']);
});

test('a file of Windows that is removed by its path with backslashes is gone', () => {
  const written = ["echo x > 'd:/w/a.md'", String.raw`rm "d:\w\a.md"`];
  expect(changedAfter(...written)).toEqual(['a.ts', 'b.ts', 'new.ts']);
});

test('an archive that is removed is no change of a source', () => {
  expect(workAfter('sed -i s/a/b/ src/a.ts', 'rm release.zip').work.lastChange?.file).toBe('src/a.ts');
});

test('a file that a tool wrote and that is removed again is not changed, whatever words the tool has', () => {
  const fold = new WorkFold();
  const ended = { kind: 'tool_ended', tool_call_id: 'a', tool_name: 'write', is_error: false } as const;
  const args = { path: '/p/box.ts', content: 'a' };
  fold.fold({ ...ended, result: 'Successfully wrote 120 bytes to /p/box.ts' }, { ...call, tool: 'write', args });
  fold.fold(payload, { ...call, args: { command: 'rm /p/box.ts' } });
  expect(fold.work.filesChanged).toEqual([]);
});

test('a file that git no longer follows is not changed', () => {
  expect(changedAfter('git rm -r --cached history.txt erl_crash.dump')).toEqual(['a.ts', 'b.ts', 'new.ts']);
});
