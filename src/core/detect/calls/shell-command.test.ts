import { expect, test } from 'vitest';
import { cpuMs } from '../../../../test/support/cost-growth.ts';
import { readShellCommand } from './shell-command.ts';

test.each([
  ['ls -la', 'ls', 'read'],
  ['cd /repo && grep -rn name src', 'grep', 'read'],
  ['cat a.txt | grep b | wc -l', 'cat', 'read'],
  ['grep x file 2>/dev/null', 'grep', 'read'],
  ['npm test 2>&1 | tail -5', 'npm', 'execute'],
  ['pytest -q', 'pytest', 'execute'],
  ['python3 -c "print(1)"', 'python3', 'execute'],
  ['git status', 'git', 'read'],

  ['npx tsc --noEmit', 'tsc', 'execute'],
  ['npx --yes tsc', 'npx', 'execute'],
  ['uv run pytest -q', 'pytest', 'execute'],

  ['git commit -m "x"', 'git', 'write'],
  ["sed -n '1,20p' file", 'sed', 'read'],
  ["sed -i 's/a/b/' file", 'sed', 'write'],
  ['pip install requests', 'pip', 'write'],
  ['python -m pip install requests', 'pip', 'write'],

  ['bash run.sh', 'bash', 'execute'],
  ['constructor toString', 'constructor', 'execute'],
  ['git constructor', 'git', 'execute'],
  ['npm ci && npm test', 'npm', 'write'],
  ['echo hi > out.txt', '', 'write'],
  ['rm -rf build', 'rm', 'write'],
  ['sleep 30', 'sleep', 'wait'],
  ['gh run view 12', 'gh', 'poll'],
  ['gh pr checks 12', 'gh', 'poll'],
  ['gh pr create --fill', 'gh', 'write'],
  ['gh pr view 12', 'gh', 'read'],
  ['kubectl get pods', 'kubectl', 'poll'],

  ['Invoke-Pester', 'Invoke-Pester', 'execute'],
  ['sleep 15; adb shell getprop x', 'adb', 'execute'],
  ['# only a comment', '', 'note'],
  ['', '', 'note'],
  ['sudo -u root cat /etc/hosts', 'cat', 'read'],
  ['FOO=1 BAR=2 make all', 'make', 'execute'],
  ['timeout 60 pytest', 'pytest', 'execute'],
  ['bin/test sympy/core', 'test', 'execute'],
  ['.venv/bin/pip install a', 'pip', 'write'],
  ['/usr/bin/grep -n a b', 'grep', 'read'],
  ['git -C /repo status', 'git', 'read'],
  ['cd /repo', 'cd', 'write'],
])('%j runs %j and is of kind %s', (line, program, kind) => {
  expect(readShellCommand(line)).toMatchObject({ program, kind });
});

test('a here-document into a file is a write to it', () => {
  const read = readShellCommand('cat <<EOF > src/app.py\nimport os\nEOF');
  expect(read).toMatchObject({ kind: 'write', writes: ['src/app.py'] });
});

test('a write inside a loop or a subshell is found', () => {
  expect(readShellCommand('for f in a b; do echo x > $f.txt; done').kind).toBe('write');
  expect(readShellCommand('(cd src && touch x)').kind).toBe('write');
});

test('broken and hostile lines are read without throwing', () => {
  for (const line of [
    'echo "never closed',
    "cat <<'EOF'\nno end",
    '((((',
    '$(',
    'if then',
    '\u0000',
    '| | |',
    '(('.repeat(500),
  ]) {
    expect(() => readShellCommand(line)).not.toThrow();
  }
});

test('a line beyond 20,000 characters counts as executing something unknown', () => {
  expect(readShellCommand(`echo ${'x'.repeat(20_001)}`)).toEqual({ program: '', kind: 'execute', writes: [] });
});

test.each(['file ', '$(', '(', 'a;'])('the longest line that is read, of many %j, costs a bounded time', (piece) => {
  const line = piece.repeat(19_900 / piece.length);
  // Deep nesting is quadratic in the parser: 250 ms on a slow core.
  expect(cpuMs(() => void readShellCommand(line))).toBeLessThan(2_000);
});

test('reading a line again gives the same answer', () => {
  expect(readShellCommand('cat x')).toEqual(readShellCommand('cat x'));
});

test('a line that changes a file and then runs a program is distinguished from one that does either', () => {
  expect(readShellCommand("sed -i '1,5d' crash.sv && ./svc crash.sv").editsAndRuns).toBe(true);
  expect(readShellCommand("./svc crash.sv && sed -i '1,5d' crash.sv").editsAndRuns).toBeUndefined();
  expect(readShellCommand("sed -i '1,5d' crash.sv").editsAndRuns).toBeUndefined();
});

test.each([
  ['git add a.ts b.ts', []],
  ['git commit -m "Fixes b.ts" && git push origin main', []],
  ['git checkout -b fix/a.ts', []],
  ['git checkout main -- a.ts', ['a.ts']],
  ['git mv a.ts src/b.ts', ['a.ts', 'src/b.ts']],
  ['npm install vitest', []],
  ['kill -9 1234', []],
  ['mkdir -p src/a', []],
  ['chmod +x run.sh', ['run.sh']],
  ["sed -i -e '3s/a/b/' -e '9s/c/d/' a.ts", ['a.ts']],
  ['cp a.ts b.ts', ['b.ts']],
  ['mktemp; rm "$tmp"', []],
  ['touch a.ts', ['a.ts']],
])('%s writes %j', (line, writes) => {
  expect(readShellCommand(line).writes).toEqual(writes);
});
