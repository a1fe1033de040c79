import { expect, test } from 'vitest';
import { readCall } from './tool-semantics.ts';

test.each([
  ['Read', { file_path: 'a' }, 'read'],
  ['mcp__github__search_issues', { query: 'x' }, 'read'],
  ['create_issue', { title: 'x' }, 'write'],
  ['Write', { file_path: 'a', content: 'b' }, 'write'],
  ['TodoWrite', { todos: [] }, 'note'],
  ['TaskUpdate', { taskId: '1', status: 'completed' }, 'note'],
  ['TaskCreate', { subject: 'Add a test' }, 'note'],
  ['think', { thought: 'x' }, 'note'],
  ['acknowledge_advice', { response: 'accepted' }, 'note'],
  ['mcp__coxswain__acknowledge_advice', { response: 'accepted' }, 'note'],
  ['coxswain-acknowledge_advice', { response: 'accepted' }, 'note'],
  ['wait', { seconds: 5 }, 'wait'],
  ['BashOutput', { bash_id: '1' }, 'poll'],
  ['deploy_status', { id: 7 }, 'poll'],
  ['getDeploymentStatus', { id: 7 }, 'poll'],
  ['upload-progress', {}, 'poll'],
  ['update_status', { status: 'open' }, 'write'],
  ['browser_click', { ref: 'e1' }, 'ui'],
  ['move_mouse', { to: 'e1' }, 'ui'],

  ['update_plan', { plan: [] }, 'note'],
  ['computer_call', { action: { type: 'click', x: 1, y: 2 } }, 'ui'],

  ['apply_patch', { input: '*** Begin Patch\n*** Update File: a\n-1\n+2\n*** End Patch' }, 'write'],
  ['op7', { argv: ['git', 'status'] }, 'read'],
  ['shell', { command: ['file', 'a.sav'] }, 'read'],
  ['python', { code: '1' }, 'execute'],
  ['mcp__x__op1037', { q: 1 }, 'unknown'],

  ['web_search', { query: 'update my phone' }, 'read'],
  ['Bash', { command: 'ls' }, 'read'],
  ['Bash', { command: '' }, 'poll'],
  ['str_replace_editor', { command: 'view', path: 'a' }, 'read'],
  ['str_replace_editor', { command: 'create', path: 'a', file_text: 'x' }, 'write'],
  ['process', { action: 'poll', id: 1 }, 'poll'],
  ['Task', { description: 'Count', prompt: 'Count the lines' }, 'execute'],
])('%s %j is of kind %s', (tool, args, kind) => {
  expect(readCall(tool, args).kind).toBe(kind);
});

test('a declaration of the host takes precedence over inferred properties', () => {
  expect(readCall('Read', { file_path: 'a' }, { Read: { kind: 'write' } }).kind).toBe('write');
  expect(readCall('Bash', { command: 'ls' }, { Bash: { kind: 'note' } }).kind).toBe('note');
});

test('a replacement gives the old and the new text', () => {
  const read = readCall('Edit', { file_path: 'a.ts', old_string: 'x', new_string: 'y' });
  expect(read).toMatchObject({ kind: 'write', target: 'a.ts', replaces: { before: 'x', after: 'y' } });
});

test('a patch of one file gives the replaced text and its replacement, also on a command line', () => {
  const patch = '*** Begin Patch\n*** Update File: a.css\n-x\n+y\n*** End Patch';
  const expected = { kind: 'write', target: 'a.css', replaces: { before: 'x', after: 'y' } };
  expect(readCall('apply_patch', { input: patch })).toMatchObject(expected);
  expect(readCall('shell', { command: ['bash', '-lc', `apply_patch <<'EOF'\n${patch}\nEOF`] })).toMatchObject(expected);
});

test.each([
  ['NotebookEdit', { notebook_path: 'n', cell_id: 'c1', new_source: 'x = 1' }, 'n:c1', 'x = 1'],
  ['Bash', { command: "cat > a.conf <<'X'\nlisten 80\nX" }, 'a.conf', 'listen 80\n'],
  ['Bash', { command: 'cd x && echo on > flag' }, 'flag', 'on'],
] as const)('%s tells what it leaves where', (tool, args, target, content) => {
  expect(readCall(tool, args)).toMatchObject({ target, content });
});

test('a line that reads one file and changes another thing has no target', () => {
  expect(readCall('Bash', { command: 'cat a.ts' }).target).toBe('a.ts');
  expect(readCall('Bash', { command: 'cat a.ts && git commit -m x' }).target).toBeUndefined();
});

test('text that is added, and a line that writes twice, tell no state', () => {
  expect(readCall('Bash', { command: 'echo x >> log' }).content).toBeUndefined();
  expect(readCall('Bash', { command: 'echo x > a; echo y > b' }).content).toBeUndefined();
});

test.each([
  ['op1', { command: 'wash mug 2' }, false, 'unknown'],

  ['op1', { command: 'npm test' }, true, 'execute'],
  ['op1', { command: './run.sh' }, true, 'execute'],
  ['op1', { thought: 'perhaps so' }, false, 'note'],
  ['op1', { seconds: 5 }, false, 'wait'],
  ['op1', { x: 10, y: 20 }, false, 'ui'],
  ['op1', { key: 'Right' }, false, 'ui'],
  ['op1', { code: 'print(1)' }, false, 'execute'],
  ['op1', { key: 'a', value: 'b' }, false, 'unknown'],
])('%s %j is read by its arguments', (tool, args, shell, kind) => {
  expect(readCall(tool, args)).toMatchObject({ shell, kind });
});

test.each([
  'Bash',
  'sh',
  'mcp__host__shell',
  'tool.container.exec',
  'my-bash',
  'x:run',
  'EXECUTE_BASH',
  'run_shell_command',
])('%s is a shell by its name', (tool) => {
  expect(readCall(tool, { input: 'look around' }).shell).toBe(true);
});

test.each(['rebash', 'push', 'crush', 'rerun', 'bash2', 'prefetch'])('%s is no shell', (tool) => {
  expect(readCall(tool, { input: 'look around' }).shell).toBe(false);
});

test('the program of a shell call is the one that it runs', () => {
  expect(readCall('Bash', { command: 'cd x && pytest -q' })).toMatchObject({ program: 'pytest', shell: true });
  expect(readCall('shell', { command: ['bash', '-lc', 'rg name'] }).program).toBe('rg');
});

test('arguments of any shape are read', () => {
  for (const args of [null, 1, 'text', [], [1], { command: 5 }, { path: null }]) {
    expect(() => readCall('Bash', args)).not.toThrow();
    expect(() => readCall('anything', args)).not.toThrow();
  }
});

test('a statement that changes a database is a write, a query is a read', () => {
  expect(readCall('execute_sql', { query: 'INSERT INTO t VALUES (1)' }).kind).toBe('write');
  expect(readCall('execute_sql', { query: 'SELECT * FROM t' }).kind).toBe('read');
});

test('an editor that is asked for a range reads the file', () => {
  const args = { path: 'a.ts', view_range: [1, 20], old_str: null };
  expect(readCall('str_replace_editor', args).kind).toBe('read');
});
