import { expect, test } from 'vitest';

import { failedKeysOf, hidesExitCode, isCheckFailure, keysOf, maskedCause } from './call-keys.ts';

function failed(command: string, cause: string): readonly string[] {
  return failedKeysOf(keysOf('Bash', { command }), cause).map(({ kind, text }) => `${kind} ${text}`);
}

test('a failed command makes the keys of the call, of the command in its chain, and of the names in the error', () => {
  expect(failed('cd /w && rtk bun run test | tail -5', "error: unrecognized subcommand 'bun'")).toEqual([
    'call cd /w && rtk bun run test | tail -#',
    'command rtk bun run test',
    'name rtk bun',
  ]);
  expect(failed('timeout 60 npm test', 'zsh:1: command not found: timeout')).toEqual([
    'call timeout # npm test',
    'command timeout # npm test',
    'name timeout',
  ]);
  expect(failed('entire status --no-pager', 'unknown flag: --no-pager')).toContain('name entire --no-pager');
  expect(failed('cat docs/plan.md; ls', 'cat: docs/plan.md: No such file or directory')).toContain('name docs/plan.md');
  expect(failed('echo === && ls', '(eval):1: == not found')).toContain('name ===');
  expect(failed('ls -l /home/a/w/x', "ls: cannot access '/home/a/w/x': No such file or directory")).toContain(
    'name ~/w/x',
  );
});

test('a program that reports what is wrong with a file is no name of the failure', () => {
  const names = (cause: string): readonly string[] =>
    failed('rm a/b.md', cause).filter((key) => key.startsWith('name'));
  expect(names("rm: cannot remove 'a/b.md': Value too large")).toEqual(['name a/b.md']);
  expect(names('rm: command not found')).toEqual(['name rm']);
  expect(failed('sed -n 1p a | cat -A', 'cat: illegal option -- A')).toContain('name cat -A');
  // It still tells which command of a line failed.
  expect(failed('sed -n 1p a | cat -A', 'cat: illegal option -- A')).toContain('command cat -A');
});

test('a flag is a name with its program and with its subcommand, because other subcommands may know it', () => {
  expect(failed('bd status --short', 'Error: unknown flag: --short')).toEqual([
    'call bd status --short',
    'command bd status --short',
    'name bd --short',
    'name bd status --short',
  ]);
});

test('a program that knows no long flag with one dash names its first letter', () => {
  for (const [command, flag] of [
    ['find src -name "*.ts"', '-n'],
    ['grep -rn x src', '-r'],
  ] as const)
    expect(failed(command, `error: unexpected argument '${flag}' found`)).toContainEqual(
      expect.stringMatching(/^name (?:find -name|grep -rn)$/),
    );
  expect(failed('find src -name "*.ts"', "error: unexpected argument '-t' found")).not.toContain('name find -name');
});

test('a file has the same name in every work tree of its repository', () => {
  const name = (path: string): string | undefined =>
    failedKeysOf(keysOf('Read', { file_path: path }), 'File does not exist.').find(({ kind }) => kind === 'name')?.text;
  for (const folder of ['app', 'app/.worktrees/1', 'app/.claude/worktrees/x', 'app.worktrees/y', 'app__worktrees/z'])
    expect(name(`/home/a/${folder}/src/a.ts`)).toBe('~/app/src/a.ts');
  expect(failed('cat /home/a/app/.worktrees/1/b.md', 'cat: /home/a/app/.worktrees/1/b.md: No such file')).toContain(
    'name ~/app/b.md',
  );
});

test('a command of a chain that the error does not name makes no key, because another one may have failed', () => {
  expect(failed('npm ci && npm run x', 'something went wrong')).toEqual(['call npm ci && npm run x']);
});

test('a skill, a tool and a missing file are names', () => {
  const names = (tool: string, args: Readonly<Record<string, string>>, cause: string): readonly string[] =>
    failedKeysOf(keysOf(tool, args), cause).flatMap(({ kind, text }) => (kind === 'name' ? [text] : []));
  expect(names('Skill', { skill: 'lint:fix' }, 'Unknown skill: lint:fix')).toEqual(['lint:fix']);
  expect(names('mcp__x__y', {}, 'No such tool available: mcp__x__y')).toEqual(['mcp__x__y']);
  expect(names('Read', { file_path: '/home/a/w/b.md' }, 'File does not exist.')).toEqual(['~/w/b.md']);
  // The file is there, and the text in it is not.
  expect(names('Edit', { file_path: '/home/a/w/b.md' }, 'String to replace not found in file.')).toEqual([]);
});

test('keys hold no quoted text, address, digest or number, and content distinguishes two edits', () => {
  const text = keysOf('Bash', { command: 'curl "https://x.y/?k=1" -u me@x.org abcdef0123 12 https://z' }).call.text;
  expect(text).toBe('curl "…" -u ADDRESS HASH # URL');
  const edit = (old: string): string => keysOf('Edit', { file_path: 'a.ts', old_string: old }).call.text;
  expect(edit('a')).not.toBe(edit('b'));
});

test('two calls that give an interpreter or another machine other text to run have no key in common', () => {
  const keys = (command: string): readonly string[] => {
    const { call, commands } = keysOf('Bash', { command });
    return [call.text, ...commands.map(({ key }) => key.text)];
  };
  for (const line of [
    'node -e "a X b"',
    "cd /w && python3 - <<'E'\na X b\nE",
    "ssh me@x.org 'a X b'",
    'bash -c "a X"',
  ]) {
    const others = new Set(keys(line.replace('X', 'other')));
    expect(keys(line).filter((text) => others.has(text))).toEqual([]);
  }
  expect(keys('git commit -m "one"')).toEqual(keys('git commit -m "two"'));
});

test('a failing test is a check, a test that cannot be started is not', () => {
  expect(isCheckFailure({ command: 'npm test' }, '2 failed')).toBe(true);
  expect(isCheckFailure({ command: 'node .dist/lib/run-tests.js' }, '2 failed')).toBe(true);
  expect(isCheckFailure({ command: 'rtk bun run test' }, "error: unrecognized subcommand 'bun'")).toBe(false);
});

test('the exit code of a pipe, of an alternative and of a last echo is not that of the program', () => {
  expect(['a | tail -5', 'a || true', 'a; echo done'].map(hidesExitCode)).toEqual([true, true, true]);
  expect(hidesExitCode('a && b')).toBe(false);
});

test('names, paths, addresses and numbers are masked, so that one cause is one text', () => {
  const causes = ['File /w/src/a.ts does not exist (12).', 'File /home/b/main.go does not exist (7).'];
  expect(new Set(causes.map(maskedCause))).toEqual(new Set(['File <path> does not exist (<n>).']));
  expect(maskedCause('bad pnpm and/or Node.js version')).toBe('bad pnpm and/or Node.js version');
  expect(maskedCause('no config .golangci.yaml or vitest.config.ts in ./a/.eslintrc.json')).toBe(
    'no config <path> or <path> in <path>',
  );
});

test('a merge with conflicts and the checks of a pull request fail because the work is not done', () => {
  expect(isCheckFailure({ command: 'git merge main' }, 'Automatic merge failed; fix conflicts')).toBe(true);
  expect(isCheckFailure({ command: 'gh pr checks 12' }, 'test fail')).toBe(true);
});

test('a plain word is a name for a tool that takes one, and an import is one of a program', () => {
  const { names } = keysOf('mcp__browser', { action: 'screenshot', path: 'a/b.png' });
  expect(names).toEqual(['mcp__browser', 'a/b.png']);
  expect(keysOf('Bash', { command: 'psql -c "select a from measurements"' }).names).not.toContain(
    'import measurements',
  );
  expect(keysOf('Bash', { command: 'python3 -c "from yaml import load"' }).names).toContain('import yaml');
});

test('a masked cause does not read like the variable PATH, and has no frame', () => {
  expect(maskedCause('/bin/bash: line 1: go: command not found')).toBe('<path>: line <n>: go: command not found');
  expect(maskedCause('╭─ Error ──╮ │ No such command. │')).toBe('Error No such command.');
});

test('a number is masked, but not the digits of a name, so that other names are other calls and other causes', () => {
  const call = (command: string): string => keysOf('Bash', { command }).call.text;
  expect(call('run f7 --port 80 a-3.log')).toBe('run f7 --port # a-#.log');
  expect(call('run f8')).not.toBe(call('run f7'));
  expect(keysOf('f7', { id: 'n7' }).call.text).not.toBe(keysOf('f7', { id: 'n8' }).call.text);
  expect(maskedCause('unknown tool f7 after 3 s')).toBe('unknown tool f7 after <n> s');
});
