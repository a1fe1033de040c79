import { expect, test } from 'vitest';
import { scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { defaultDetectors } from './default-detectors.ts';
import { identicalCallDetector } from './identical-call.ts';

const bash = (command: string, result: string, isError = false): ScriptedCall => ({
  tool: 'Bash',
  args: { command },
  result,
  isError,
});
const fails = (command: string, result: string): ScriptedCall => bash(command, result, true);
const read = (path: string): ScriptedCall => ({ tool: 'Read', args: { file_path: path }, result: `text of ${path}` });
const edit = (at: number): ScriptedCall => ({
  tool: 'Edit',
  args: { file_path: '/a.ts', old_string: `old ${at}`, new_string: `new ${at}` },
  result: 'The file /a.ts has been updated successfully.',
});
const todo = (at: number): ScriptedCall => ({
  tool: 'TodoWrite',
  args: { todos: [{ content: `step ${at}`, status: 'in_progress' }] },
  result: 'Todos have been modified successfully. Please proceed with the current tasks if applicable',
});

/** The one of `calls` at `at`, round and round. */
function round(at: number, calls: readonly ScriptedCall[]): ScriptedCall {
  return calls[at % calls.length] ?? read('none');
}

function stuckKinds(calls: readonly ScriptedCall[]): readonly string[] {
  const { analysis } = scriptedRun(calls);
  expect(analysis.faults).toEqual([]);
  const flagged = analysis.patterns().filter((pattern) => pattern.stuck && pattern.flaggedAt !== null);
  return [...new Set(flagged.map((pattern) => pattern.kind))];
}

test('options in plain JavaScript are checked like those of a configuration', () => {
  // TypeScript rejects these options.
  const create = identicalCallDetector as (options: object) => unknown;
  expect(() => create({ warmAt: 3 })).toThrow(/^there is no option warmAt; did you mean warnAt\?$/);
  expect(() => create({ warnAt: '3' })).toThrow(/^warnAt must be a whole number from 2 to 1000, got "3"$/);
});

test('each detector has a unique name', () => {
  const names = defaultDetectors().map((detector) => detector.name);
  expect(new Set(names).size).toBe(names.length);
});

const LEGITIMATE: Readonly<Record<string, readonly ScriptedCall[]>> = {
  'reading many files': times(30, (at) => read(`/src/f${at}.ts`)),
  'reading a big file in chunks': times(20, (at) => ({
    tool: 'Read',
    args: { offset: at * 200 },
    result: `part ${at}`,
  })),
  'keeping a plan': times(12, (at) => round(at, [todo(at), todo(at), read(`/f${at}`)])),
  'git status between edits': times(24, (at) => round(at, [bash('git status', ' M a.ts'), edit(at), read(`/f${at}`)])),
  'test-driven work': times(16, (at) => round(at, [fails('npm test', `${20 - at} failed`), edit(at)])),
  'build, lint, test, all clean': times(24, (at) =>
    round(at, [edit(at), bash('npm run lint', ''), bash('npm test', '12 passed')]),
  ),
  'waiting for a build': times(16, (at) => round(at, [bash('gh run view 7', 'in_progress'), bash('sleep 30', '')])),
  'pending checks that exit with a failure': times(8, () => fails('gh pr checks 7', 'build\tpending\t0')),
  'asking a server that starts': times(8, () => bash('curl -s localhost:3000/health', 'starting')),
  'one missing module after the other': times(8, (at) =>
    fails('python app.py', `ModuleNotFoundError: No module named 'm${'abcdefgh'[at] ?? ''}'`),
  ),
  'probing for programs': times(6, (at) => fails(`which tool${at}`, '')),
  'editing one file many times': times(20, edit),
  'editing cells of a notebook': times(14, (at) => ({
    tool: 'NotebookEdit',
    args: { notebook_path: '/n.ipynb', cell_id: `c${at}`, new_source: `x = ${at}` },
    result: `Updated cell c${at}`,
  })),
  'scrolling down': times(8, () => ({ tool: 'browser_scroll', args: { by: 500 }, result: 'Scrolled down 500 pixels' })),
  'next page after next page': times(8, (at) => ({
    tool: 'browser_click',
    args: { ref: 'next' },
    result: `page ${at}`,
  })),
  'inserting rows': times(8, (at) => ({
    tool: 'execute_sql',
    args: { query: `INSERT INTO t VALUES (${at})` },
    result: '1 row affected',
  })),
  'looking for rows': times(5, (at) => ({
    tool: 'sql',
    args: { query: `SELECT a FROM t WHERE b = ${at}` },
    result: '[]',
  })),
  'searching in parallel': times(12, (at) => ({
    tool: 'Grep',
    args: { pattern: `name${at}` },
    result: 'No matches found',
    turn: Math.floor(at / 4),
  })),
  bisecting: times(16, (at) =>
    round(at, [
      bash('git bisect good', `${20 - at} left`),
      fails('npm test', '1 failed'),
      bash('git bisect bad', `${20 - at} left`),
      bash('npm test', 'passed'),
    ]),
  ),
  'two retries of a flaky network': [
    ...times(2, fails('npm ci', 'network timeout')),
    bash('npm ci', 'added 300 packages'),
  ],
};

test.each(Object.entries(LEGITIMATE))('no pattern is flagged for %s', (_name, calls) => {
  expect(stuckKinds(calls)).toEqual([]);
});

const STUCK: Readonly<Record<string, readonly ScriptedCall[]>> = {
  'one read again and again': times(4, read('/a')),
  'a query with a growing limit': times(8, (at) => ({
    tool: 'sql',
    args: { query: `SELECT name, price FROM orders WHERE customer = 7 AND status = 'open' LIMIT ${at + 10}` },
    result: '[["pen",3],["cup",4]]',
  })),
  'the same failure after each edit': times(14, (at) =>
    round(at, [fails('pytest -q', `E  assert 'x' == 'y'\n1 failed in 0.1${at}s`), edit(at)]),
  ),
  'a time limit met by ever new jobs': times(6, (at) => fails(`python t.py --n ${at}`, 'Command timed out after 120s')),
  'a refusal with thoughts between': times(8, (at) =>
    round(at, [fails('rm -rf /x', 'Permission has been denied.'), { tool: 'think', args: { thought: `${at}` } }]),
  ),
  'an edit that never matches': times(8, (at) =>
    round(at, [{ ...edit(0), result: 'String to replace not found in file.', isError: true }, read('/a.ts')]),
  ),
  'paraphrased searches': times(8, (at) => ({
    tool: 'WebSearch',
    args: { q: `pizza ${at} rome` },
    result: 'Pizzeria Roma, Via Appia',
  })),
  'everything is unreachable': times(6, (at) =>
    round(at, [
      fails('npm i', 'npm ERR! network ECONNREFUSED'),
      fails('pip install x', 'ERROR: could not find a version'),
      fails('curl x', 'curl: (6) could not resolve host'),
    ]),
  ),
};

test.each(Object.entries(STUCK))('a pattern is flagged for %s', (_name, calls) => {
  expect(stuckKinds(calls)).not.toEqual([]);
});
