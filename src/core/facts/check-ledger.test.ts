import { expect, test } from 'vitest';

import { type Call, checksAfter, failedAfter, resultsAfter } from '../../../test/support/checks-after.ts';
import { CheckLedger } from './check-ledger.ts';
import { checkResult } from './run-verdict.ts';

test('a wrong command that a right one of the same purpose replaced is no failed check', () => {
  const wrong = ['rtk bun run test', "error: unrecognized subcommand 'bun'"] as const;
  expect(failedAfter(wrong)).toEqual(['rtk bun run test']);
  expect(failedAfter(wrong, ['bun run lint'])).toEqual(['rtk bun run test']);
  expect(failedAfter(wrong, ['bun run test'])).toEqual([]);
  expect(failedAfter(['go test ./w/a/...', 'go: cannot find main module'], ['go test ./a/...'])).toEqual([]);
});

test('a check of a part does not make up for a failed check of the whole project', () => {
  expect(failedAfter(['npm test', '2 failed'], ['npx vitest run a.test.ts'])).toEqual(['npm test']);
  expect(failedAfter(['go test ./...', 'FAIL'], ['go test ./a -run X'])).toEqual(['go test ./...']);
  expect(failedAfter(['npx vitest run a.test.ts', '1 failed'], ['npm test'])).toEqual([]);
  expect(failedAfter(['go test -tags=integration ./it', 'FAIL'], ['mise run test'])).toEqual([
    'go test -tags=integration ./it',
  ]);
  expect(failedAfter(['mise run lint', '2 issues'], ['mise run ci'])).toEqual([]);
  expect(failedAfter(["go test ./a -run 'TestRun_Integration.*'", 'FAIL'], ['go test ./...'])).toEqual([]);
});

test('a failed check of the whole project is made up for by none of its parts, also not by one that failed first', () => {
  const whole = ['cargo test', '4 failed'] as const;
  const part = ['cargo test config::tests', '2 failed'] as const;
  expect(failedAfter(whole, part)).toEqual(['cargo test', 'cargo test config::tests']);
  expect(failedAfter(whole, part, ['cargo test config::tests'])).toEqual(['cargo test']);
  expect(failedAfter(whole, part, ['cargo test'])).toEqual([]);
  expect(failedAfter(whole, part, whole)).toEqual(['cargo test']);
  const ofFile = ['npx eslint src/ -f json -o /tmp/out.json', '2 errors'] as const;
  expect(failedAfter(ofFile, ['npx eslint src/ -f json', '2 errors'])).toEqual(['npx eslint src/ -f json']);
});

test('a run of the tests of some names makes up for no failed run of all of the file, and for none of other names', () => {
  for (const [all, some] of [
    ['npx vitest run a.test.ts', '-t x'],
    ['npx playwright test a.spec.ts', '-g "POST /x creates y"'],
    ['go test ./a', '-run X'],
    ['pytest tests/a.py', '-k x'],
  ] as const)
    expect(failedAfter([all, '1 failed'], [`${all} ${some}`])).toEqual([all]);
  const failed = ['go test ./a -run TestOne', 'FAIL'] as const;
  expect(failedAfter(failed, ['go test ./a -run TestTwo'])).toEqual([failed[0]]);
  expect(failedAfter(failed, ['go test ./a -run Test'])).toEqual([]);
});

test('tests make up for a failed build of the same project, unless they do not build', () => {
  const build = ['dotnet build tests\\A\\A.csproj -v minimal', 'Build FAILED.'] as const;
  expect(failedAfter(build, ['dotnet test tests\\A\\A.csproj'])).toEqual([]);
  expect(failedAfter(build, ['dotnet test tests\\A\\A.csproj --no-build'])).toEqual([build[0]]);
  expect(failedAfter(build, ['dotnet test tests\\B\\B.csproj'])).toEqual([build[0]]);
  expect(failedAfter(['mvn compile', 'BUILD FAILURE'], ['mvn test'])).toEqual([]);
  expect(failedAfter(['mvn compile', 'BUILD FAILURE'], ['dotnet test'])).toEqual(['mvn compile']);
});

test('a check never began if the command before it failed', () => {
  const line = 'rm -rf out && npx playwright test a.spec.ts';
  expect(resultsAfter([line, "Exit code 1\nrm: cannot remove 'out/a': Permission denied"])).toEqual([
    'npx playwright test a.spec.ts could not run: it never began',
  ]);
  expect(failedAfter([line, 'rm: x\n1 failed'])).toHaveLength(1);
});

test('a check whose output is withheld, or that runs before and after its files are written in one line, is not seen to its end', () => {
  const unseen = (command: string, result: string) => checksAfter([[command, undefined, result]])[0]?.isHidden;
  expect(unseen('npx nx typecheck server', 'The answer is too long (107839 characters). Try others.')).toBe(true);
  expect(unseen('gofmt -l a/; gofmt -w a/; echo done; gofmt -l a/', 'a/x.go\ndone\n')).toBe(true);
  const none = 'None of the selected packages has a "lint" script\n';
  expect(resultsAfter(['pnpm --filter server lint', undefined, none])).toEqual([
    'pnpm --filter server lint ran nothing',
  ]);
});

test('words of a failure that tests expect are no failure of the tests', () => {
  const ledger = new CheckLedger();
  const args = { command: 'npx vitest run 2>&1 | tail -30' };
  const call = {
    id: 'c',
    number: 1,
    tool: 'Bash',
    args,
    seq: 1,
    startLost: false,
    failed: false,
    resultMissing: false,
  };
  const errorLine = 'Failed to send a notification: 403';
  ledger.fold({ ...call, errorLine }, `${errorLine}\n Test Files  8 passed (8)\n Tests  159 passed (159)\n`, undefined);
  expect(ledger.checks).toMatchObject([{ failed: false }]);
});

test('a target of make whose last program failed is made up for by that program only', () => {
  const lint = 'cd web && npm run lint\n\n> web@0.1.0 lint\n> eslint .\n\n';
  const made = `${lint}cd server && uv run ruff check .\nE501 Line too long\nFound 2 errors.\nmake: *** [Makefile:22: lint] Error 1`;
  const ran = '> web@0.1.0 lint\n> eslint .\n\n';
  expect(failedAfter(['make lint', made], ['cd web && npm run lint', undefined, ran])).toEqual(['make lint']);
  expect(failedAfter(['make lint', made], ['cd server && uv run ruff check .'])).toEqual([]);
  expect(failedAfter(['make lint', made], ['make lint', undefined, lint])).toEqual([]);
});

test('a test that failed among unit and integration tests passed later if it alone passed', () => {
  const all = 'uv run pytest tests/unit/ tests/integration/';
  const failure = 'FAILED tests/unit/test_config.py::test_x - AssertionError\n=== 1 failed, 22 passed in 2.1s ===';
  expect(failedAfter([all, failure], ['uv run pytest tests/unit/test_config.py::test_x'])).toEqual([]);
  expect(failedAfter([all, failure], ['uv run pytest tests/unit/test_config.py::test_y'])).toEqual([all]);
});

test('a cmdlet of PowerShell behind a check hides no exit code', () => {
  const line = 'cargo clippy -- -D warnings | Select-Object -Last 5';
  expect(resultsAfter([line, undefined, 'Finished `dev` profile'])).toEqual(['cargo clippy -- -D warnings passed']);
});

test('another program of the same purpose makes up for a failed one only if it does what that one does', () => {
  expect(failedAfter(['cargo fmt --check', 'Diff in src/a.rs'], ['cargo clippy'])).toEqual(['cargo fmt --check']);
  expect(failedAfter(['npx eslint .', '2 errors'], ['npx prettier --check .'])).toEqual(['npx eslint .']);
  expect(failedAfter(['npx tsc --noEmit', 'error TS2304'], ['mypy .'])).toEqual(['npx tsc --noEmit']);
  expect(failedAfter(['npx vitest run', '1 failed'], ['go test ./...'])).toEqual(['npx vitest run']);
  expect(failedAfter(['npx tsc --noEmit', 'error TS2304'], ['npx vue-tsc'])).toEqual([]);
  expect(failedAfter(['npx eslint .', '2 errors'], ['npm run lint'])).toEqual([]);
  expect(failedAfter(['npm run lint', '2 errors'], ['npx eslint .'])).toEqual([]);
  expect(failedAfter(['gofmt -l .', 'a.go'], ['golangci-lint run'])).toEqual([]);
});

test('a check whose script prints the command of a failed one makes up for it', () => {
  const types = ['cargo +nightly check -Zwarnings', 'error: could not compile'] as const;
  const steps =
    '❯ cargo-check\n  cargo-check – 99 files – **/*.rs – cargo +nightly check -Zwarnings --quiet\n✔ cargo-check';
  expect(failedAfter(types, ['mise run lint', undefined, steps])).toEqual([]);
  const lint = ['npx @biomejs/biome check src/a.css', 'Found 6 errors.'] as const;
  const fix = '> me@0.0.1 check /p\n> biome check --write src\n\nChecked 24 files in 45ms. No fixes applied.';
  expect(failedAfter(lint, ['pnpm check', undefined, fix])).toEqual([]);
});

test('a failed check has the line of its output that says so', () => {
  const errorOf = (result: string) => checksAfter([['npm test', result]])[0]?.error;
  expect(errorOf('> vitest run\n\n  FAIL  src/a.test.ts > adds\nAssertionError: 3\n')).toBe('3 in adds');
  expect(errorOf("src/a.ts(3,1): error TS2304: Cannot find name 'x'.\nmore")).toBe(
    "Cannot find name 'x' in src/a.ts(3,1)",
  );
  expect(errorOf('it broke')).toBeUndefined();
});

test('a check in a branch of a line has run only if its words are there', () => {
  const line = 'if [ -f package.json ]; then npm test; elif [ -f pom.xml ]; then mvn test; else echo none; fi';
  expect(resultsAfter([line, undefined, 'none'])).toEqual([]);
  expect(resultsAfter(['if [ -d src ]; then npm test; fi', undefined, 'Tests  5 passed (5)'])).toEqual([
    'npm test passed',
  ]);
  expect(resultsAfter(['if npm test; then echo ok; fi', undefined, 'ok'])).toEqual(['npm test passed']);
});

test('the end of a script of the project before a pipe is known only by its words', () => {
  const after = (end: string): readonly string[] =>
    resultsAfter(['node scripts/lint-posts.mjs -p a.mdx | tail -4', undefined, end]);
  const script = 'node scripts/lint-posts.mjs -p a.mdx';
  expect(after('Files with errors: 1\n\nSome linting checks failed.')).toEqual([`${script} failed`]);
  expect(after('Total: 28  Pass: 26  Fail: 2')).toEqual([`${script} failed`]);
  expect(after('wrote report.html')).toEqual([`${script} not seen to its end`]);
  expect(after('3 passed')).toEqual([`${script} passed`]);
});

test('the failure of another command in the line is no failure of the check', () => {
  expect(
    resultsAfter([
      'cd /tmp && go build -o /tmp/x ./cmd/... 2>/dev/null || find .',
      undefined,
      'bfs: error: ./a: Permission denied',
    ]),
  ).toEqual(['go build -o /tmp/x ./cmd/... 2>/dev/null not seen to its end']);
  const many = [
    'go build -o /tmp/x ./cmd/... 2>&1 | head',
    undefined,
    'go: cannot write multiple packages to non-directory /tmp/x',
  ] as const;
  expect(failedAfter(many, ['go build -o /tmp/x ./cmd/a'])).toEqual([]);
  expect(failedAfter(many, ['go build -o /tmp/x ./cmd/a 2>&1 | head', undefined, 'warning: null character'])).toEqual(
    [],
  );
  const read = ['npx eslint src/ -f json | python3 -c "x"', 'json.decoder.JSONDecodeError: Expecting value'] as const;
  expect(resultsAfter(read)).toEqual(['npx eslint src/ -f json not seen to its end']);
  const tried = ['go build -o /tmp/x ./cmd/x && /tmp/x aaaa', 'Error: Unknown command: aaaa'] as const;
  expect(resultsAfter(tried)).toEqual(['go build -o /tmp/x ./cmd/x not seen to its end']);
  expect(failedAfter(['npm run build && ./deploy.sh', 'src/a.ts(3,1): error TS2304: Cannot find name'])).toEqual([
    'npm run build',
  ]);
  expect(failedAfter(['npm run build && echo done', 'it broke'])).toEqual(['npm run build']);
});

test('a wrong command stands until it ran in another form, whatever a similar check or a refusal says', () => {
  const wrong = ['go test -tags e2e ./... -bad | head', undefined, 'unknown flag: -bad'] as const;
  expect(failedAfter(wrong, ['go test ./... | head', undefined, 'x'])).toEqual(['go test -tags e2e ./... -bad']);
  expect(failedAfter(wrong, ['go test -tags e2e ./... | head', undefined, 'x'])).toEqual([]);
  const ledger = new CheckLedger();
  const call = { id: 'a', tool: 'Bash', seq: 0, startLost: false, failed: false, resultMissing: false };
  ledger.fold({ ...call, number: 1, args: { command: wrong[0] } }, wrong[2], undefined);
  const refused = { ...call, number: 2, args: { command: 'go test -tags e2e ./...' }, outcome: 'refused' } as const;
  ledger.fold(refused, '', undefined);
  expect(ledger.checks.map(({ failed }) => failed)).toEqual([true]);
});

test('a check of other files does not make up for a failed one, and the same files do, however they are written', () => {
  const failed = ['npx vitest run a.test.ts', '1 failed'] as const;
  const other = ['npx vitest run b.test.ts', '1 failed'] as const;
  expect(failedAfter(failed, ['npx vitest run b.test.ts'])).toEqual(['npx vitest run a.test.ts']);
  expect(failedAfter(failed, other, ['npx vitest run b.test.ts'])).toEqual(['npx vitest run a.test.ts']);
  expect(failedAfter(failed, ['npx vitest run a.test.ts --reporter=dot 2>&1 | tail -5'])).toEqual([]);
  expect(failedAfter(failed, ['npx vitest run a.test.ts b.test.ts'])).toEqual([]);
  expect(failedAfter(['go test ./a', 'FAIL'], ['go test ./b'])).toEqual(['go test ./a']);
  expect(failedAfter(failed, other, ['npm test'])).toEqual([]);
});

test('nothing after a pipe says nothing, except of checks that print nothing when they pass', () => {
  const after = (command: string): readonly string[] => resultsAfter([`${command} 2>&1 | tail -10`, undefined, '']);
  expect(after('npx biome check .')).toEqual(['npx biome check . not seen to its end']);
  expect(after('npx tsc --noEmit')).toEqual(['npx tsc --noEmit passed']);
});

test('a pipe hides no command that is wrong itself', () => {
  const none = 'ERR_PNPM_RECURSIVE_RUN_NO_SCRIPT  None of the selected packages has a "typecheck" script';
  const wrong = ['pnpm --filter web typecheck 2>&1 | tail -20', undefined, none] as const;
  const stopped = 'could not run: it never began';
  expect(resultsAfter(wrong)).toEqual([`pnpm --filter web typecheck ${stopped}`]);
  const missing = 'npm error Missing script: "lint"\nnpm error\nnpm error To see a list of scripts, run:';
  expect(resultsAfter(['npm run lint', missing])).toEqual([`npm run lint ${stopped}`]);
  const notTsc =
    'This is not the tsc command you are looking for\n\nTo get access to the TypeScript compiler, tsc, from the command line either:';
  expect(resultsAfter(['npx tsc --noEmit | tail -5', undefined, notTsc])).toEqual([
    'npx tsc --noEmit could not run: it was not found',
  ]);
  expect(resultsAfter(wrong, ['pnpm --filter web exec tsc --noEmit | tail', undefined, ''])).toEqual([
    'pnpm --filter web exec tsc --noEmit passed',
  ]);
});

test('tests behind a command that hides their exit code passed only if what is left says so', () => {
  const after = (line: string, result: string): readonly string[] =>
    resultsAfter([line, undefined, result]).map((text) => text.replace(/^.*?(?=passed|failed|not seen)/, ''));
  const failing = 'ℹ tests 2\nℹ pass 1\nℹ fail 1\nℹ todo 0\n\n✖ failing tests:\n\n✖ adds (1.6ms)';
  const end = "    operator: '==',\n    diff: 'simple'\n  }";
  for (const hiding of ['|| true', '2>&1 | tail -3', '| tee out.txt', '> out.txt 2>&1; tail -3 out.txt']) {
    expect([hiding, after(`npm test ${hiding}`, failing)]).toEqual([hiding, ['failed']]);
    expect([hiding, after(`node --test ${hiding}`, end)]).toEqual([hiding, ['not seen to its end']]);
    expect([hiding, after(`npm test ${hiding}`, 'ℹ pass 2\nℹ fail 0\nℹ todo 0')]).toEqual([hiding, ['passed']]);
  }
  const pester = 'pwsh -NoProfile -Command "Invoke-Pester -Path ./tests" 2>&1 | tail -8';
  expect(after('$r = Invoke-Pester -Path scripts/tests -PassThru', '')).toEqual(['not seen to its end']);
  expect(after(pester, 'Tests Passed: 258, Failed: 0, Skipped: 0')).toEqual(['passed']);
  const make = `make: *** [Makefile:82: _all] Error 2\n${'>>> building\n'.repeat(400)}`;
  expect(after('make test 2>&1 | tail -60', make)).toEqual(['failed']);
  expect(after(pester, 'Tests Passed: 250, Failed: 8, Skipped: 0')).toEqual(['failed']);
  for (const passed of [
    'OK',
    'Passed!  - Failed:     0, Passed:     5',
    'Failed: 0\nPassed!',
    '5 examples, 0 failures',
    '.....s..                       [100%]\n',
    '100% tests passed, 0 tests failed out of 3',
    'All tests passed!',
  ])
    expect([passed, after('make test | tail -3', passed)]).toEqual([passed, ['passed']]);
  for (const failed of ['FAILED (failures=1)', 'not ok 1 - adds', 'BUILD FAILED in 3s', '# fail 1'])
    expect([failed, after('make test | tail -3', failed)]).toEqual([failed, ['failed']]);
});

test('hooks that passed before a commit that was not made are named so', () => {
  const shown = '$ bun test src/\n1309 pass\nFAILED: git commit\nno changes added to commit';
  expect(resultsAfter(['rtk git commit -m x', undefined, shown])).toContain(
    'the hooks of git commit (nothing was committed) passed',
  );
});

test('a check that the agent stopped with Ctrl-C has not failed', () => {
  const ledger = new CheckLedger();
  const call = {
    id: 'c',
    number: 1,
    tool: 'exec_command',
    seq: 1,
    startLost: false,
    failed: false,
    resultMissing: false,
  };
  const running = 'Wall time: 1.0 seconds\nProcess running with session ID 66611\nOutput:\n';
  ledger.fold({ ...call, args: { cmd: 'npm test' } }, running, undefined);
  const args = { session_id: 66_611, chars: '\u0003' };
  ledger.fold(
    { ...call, number: 2, tool: 'write_stdin', failed: true, args },
    'Process exited with code 1\nOutput:\n^C',
    undefined,
  );
  expect(ledger.checks).toMatchObject([{ failed: false, isRefused: true }]);
});

test('a build of cargo behind a pipe passed if its last words say so', () => {
  const done = '   Compiling v15 v0.1.0\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 2.82s\n';
  expect(resultsAfter(['cargo build 2>&1 | head -100', undefined, done])).toEqual(['cargo build passed']);
});

test('a linter that changed files says how many', () => {
  expect(resultsAfter(['bun run lint:fix | tail -5', undefined, 'Checked 282 files. Fixed 2 files.'])).toEqual([
    'bun run lint:fix passed and fixed 2 files',
  ]);
});

test('a script that failed passed later if the command that it runs did, as in a hook', () => {
  const failed = ['bun run test', '$ bun test src/\n114 fail'] as const;
  expect(failedAfter(failed, ['git commit -m x', undefined, '$ bun test src/\n1329 pass\n[main d513d5a] x'])).toEqual(
    [],
  );
  expect(failedAfter(failed, ['bun test lib/'])).toEqual(['bun run test']);
  // A pipe may hide the line that names it.
  expect(failedAfter(failed, ['bun run test | tail', '114 fail'], ['bun test src/', undefined, '9 pass'])).toEqual([]);
});

test('a check before a command that failed is judged by what it says, and a task by those that it runs', () => {
  const line = 'git stash && mise run lint 2>&1 | tail -20; git stash pop';
  expect(resultsAfter([line, '0 issues.\nFinished in 8s\nerror: could not restore'])).toEqual(['mise run lint passed']);
  const chain = 'mise run fmt && mise run lint && mise run test:ci';
  expect(failedAfter([chain, 'a.go:1: unused\n[lint:go] ERROR task failed'])).toEqual(['mise run lint']);
});

test('hooks that failed are made up for when the last check that they showed passes', () => {
  const failed = [
    'git commit -m x',
    '$ bun test\n9 pass\n$ tsc --noEmit\na.ts(1,2): error TS1: x\nhusky - pre-commit script failed (code 2)',
  ] as const;
  expect(failedAfter(failed)).toEqual(['the hooks of git commit']);
  expect(failedAfter(failed, ['bun run typecheck', undefined, '$ tsc --noEmit'])).toEqual([]);
  expect(failedAfter(failed, ['npx tsc --noEmit', undefined, ''])).toEqual([]);
  expect(failedAfter(failed, ['bun test', undefined, '9 pass'])).toEqual(['the hooks of git commit']);
  const staged = [
    'git commit -m x',
    '[FAILED] eslint --fix [FAILED]\n✖ eslint --fix:\n✖ 1 problem\nhusky - pre-commit script failed (code 1)',
  ] as const;
  expect(failedAfter(staged, ['npx eslint .', undefined, ''])).toEqual([]);
});

test('the linters that lint-staged runs are hooks of the commit', () => {
  const shown = '[STARTED] eslint --fix\n[COMPLETED] eslint --fix\n[COMPLETED] prettier --write\n[main 1a2b3c4] x';
  expect(resultsAfter(['git commit -m x', undefined, shown])).toContain('the hooks of git commit passed');
});

test('a commit whose hooks failed counts until it succeeds', () => {
  const failed = ['git commit -m x', '$ tsc\nhusky - pre-commit script failed (code 2)'] as const;
  expect(failedAfter(failed, ['git commit --amend --no-edit'])).toEqual([]);
  expect(failedAfter(failed, ['git commit --no-verify -m x'])).toEqual(['the hooks of git commit']);
  expect(failedAfter(failed)).toEqual(['the hooks of git commit']);
  expect(failedAfter(['git commit -m x', '$ npm test\n2 failed'])).toEqual(['the hooks of git commit']);
  expect(failedAfter(['git commit -m x', '$ npm test\nno changes added to commit'])).toEqual([]);
});

test('a check in the background counts with the output that is asked for, and is not seen to its end before', () => {
  const start = [
    'pnpm test 2>&1 | tail -30',
    undefined,
    'Command running in background with ID: bd93b1a. Output: x',
  ] as const;
  const ask = (result: string): Call => ['cat /tmp/tasks/bd93b1a.output', undefined, result];
  expect(resultsAfter(start)).toEqual(['pnpm test not seen to its end']);
  expect(resultsAfter(start, ask('<status>running</status>'))).toEqual(['pnpm test not seen to its end']);
  expect(resultsAfter(start, ask('Exit status 1\n ELIFECYCLE Test failed. See above for more details.'))).toEqual([
    'pnpm test failed',
  ]);
  expect(resultsAfter(start, ask('<exit_code>0</exit_code>\nx\n 12 passed'))).toEqual(['pnpm test passed']);
  expect(resultsAfter(start, ask('<exit_code>0</exit_code>\nExit status 1\n ELIFECYCLE Test failed.'))).toEqual([
    'pnpm test failed',
  ]);
  expect(resultsAfter(start, ask('<exit_code>0</exit_code>\nstarting'))).toEqual(['pnpm test not seen to its end']);
  const fails: Call = ['tail -8 /tmp/tasks/bd93b1a.output; echo ===', '(eval):1: == not found', 'Finished'];
  expect(resultsAfter(start, fails)).toEqual(['pnpm test not seen to its end']);
  // Codex answers while a command runs, and is asked by a number.
  const running = ['bun run typecheck', undefined, 'Process running with session ID 9969\nOutput:'] as const;
  expect(resultsAfter(running)).toEqual(['bun run typecheck not seen to its end']);
  const asked = (code: number): Call => ['cat 9969', undefined, `Process exited with code ${code}\nOutput:`];
  expect(resultsAfter(running, asked(0))).toEqual(['bun run typecheck passed']);
  expect(resultsAfter(running, asked(2))).toEqual(['bun run typecheck failed']);
});

test('a check in the background is named by its own call, unless it ran again before its output was asked for', () => {
  const start = ['pnpm test', undefined, 'Command running in background with ID: bd93b1a. Output: x'] as const;
  const ask: Call = ['cat /tmp/tasks/bd93b1a.output', undefined, '<exit_code>1</exit_code>\n2 failed'];
  expect(checksAfter([['ls'], start, ['ls'], ask]).map(({ number }) => number)).toEqual([2]);
  expect(resultsAfter(start, ['pnpm test', undefined, '3 passed'], ask)).toEqual(['pnpm test passed']);
});

test('a command that a script of the code mode began has ended with the answer that names no session any more', () => {
  const ledger = new CheckLedger();
  const shown = [
    '{"chunk_id":"c","wall_time_seconds":1.0,"session_id":83638,"original_token_count":0,"output":""}',
    '{"chunk_id":"d","wall_time_seconds":30.0,"session_id":83638,"output":"Compiling"}',
    'SUCCESS: no file, error: ENOENT\n✔ cargo-check',
  ];
  for (const [index, result] of shown.entries()) {
    const asks = { session_id: 83_638, chars: '', script: 'tools.write_stdin({session_id:83638})' };
    const args = index === 0 ? { cmd: 'mise run lint-fix', script: 'text(JSON.stringify(r))' } : asks;
    const call = { id: `c${index}`, number: index + 1, tool: 'exec', args, seq: index, startLost: false };
    ledger.fold({ ...call, failed: false, resultMissing: false }, result, undefined);
    expect(ledger.checks.map(checkResult)).toEqual([index < 2 ? 'not seen to its end' : 'passed']);
  }
});

test('a script of the code mode that goes on has not passed before the answer that ends it', () => {
  const ledger = new CheckLedger();
  const session = '{"chunk_id":"d","session_id":44765,"output":"Compiling"}';
  const calls: readonly (readonly [args: Record<string, string | number>, result: string])[] = [
    [{ cmd: 'mise run lint', script: 'x' }, 'Script running with cell ID 32\nWall time 10.0 seconds\nOutput:\n'],
    [{ limit: '32' }, 'other'],
    [{ cell_id: '32' }, session],
    [{ session_id: 44_765, chars: '', script: 'x' }, 'Script running with cell ID 38\nOutput:\n'],
    [{ cell_id: '38' }, '✔ all'],
  ];
  for (const [index, [args, result]] of calls.entries()) {
    const call = { id: `c${index}`, number: index + 1, tool: 'exec', args, seq: index, startLost: false };
    ledger.fold({ ...call, failed: false, resultMissing: false }, result, undefined);
    expect(ledger.checks.map(checkResult)).toEqual([index < 4 ? 'not seen to its end' : 'passed']);
  }
});

test('a message of the host says how a check in the background ended', () => {
  const after = (command: string, ...notices: readonly string[]): readonly string[] => {
    const ledger = new CheckLedger();
    const call = { id: 'a', number: 1, tool: 'Bash', args: { command }, seq: 0, startLost: false };
    ledger.fold(
      { ...call, failed: false, resultMissing: false },
      'Command running in background with ID: b1x4. Output: x',
      undefined,
    );
    for (const notice of notices) ledger.foldNotice(notice);
    return ledger.checks.map((check) => checkResult(check));
  };
  const notice = (summary: string, id = 'b1x4'): string =>
    `<task-notification>\n<task-id>${id}</task-id>\n<output-file>/tmp/tasks/${id}.output</output-file>\n<status>x</status>\n<summary>Background command "Run the tests" ${summary}</summary>\n</task-notification>`;
  expect(after('npm test', notice('completed (exit code 0)'))).toEqual(['passed']);
  expect(after('npm test', notice('failed with exit code 1'))).toEqual(['failed']);
  for (const text of [notice('was stopped'), notice('completed (exit code 0)', 'b9z9'), 'exit code 0'])
    expect(after('npm test', text)).toEqual(['not seen to its end']);
  // The exit code is that of `tail`.
  expect(after('npm test | tail -5', notice('completed (exit code 0)'))).toEqual(['not seen to its end']);
});

test('what the command line itself prints does not say that a check passed', () => {
  const lint = 'bun run lint 2>&1 | grep -A 5 "styles.css" || echo "No issues in modified files"';
  expect(resultsAfter([lint, undefined, 'No issues in modified files'])).toEqual(['bun run lint not seen to its end']);
  expect(
    resultsAfter(
      [lint, undefined, 'Command running in background with ID: bd93b1a.'],
      ['cat /tmp/tasks/bd93b1a.output', undefined, '<exit_code>0</exit_code>\nNo issues in modified files'],
    ),
  ).toEqual(['bun run lint not seen to its end']);
});

test('of a chain of checks only the one whose script the result names failed', () => {
  const chain = 'bun run test && bun run lint';
  expect(failedAfter([chain, '1318 pass\n0 fail\nerror: script "lint" exited with code 1'])).toEqual(['bun run lint']);
  expect(failedAfter(['npm test && npm run lint', 'npm error Lifecycle script `lint` failed'])).toEqual([
    'npm run lint',
  ]);
  expect(failedAfter(['bun run test', '2 failed'], [chain, 'error: script "lint" exited with code 1'])).toEqual([
    'bun run lint',
  ]);
  expect(failedAfter([chain, 'something else'])).toEqual([chain]);
});

test('a failed test that was selected by its name passes later in a run of that name, or of the folder of all such tests', () => {
  const failed = [
    'mise run test:integration -- -run TestSession_Commit -v | tail',
    '--- FAIL: TestSession_Commit',
  ] as const;
  const go = 'go test -tags=integration -v';
  expect(failedAfter(failed, [`${go} -run TestSession ./cmd/integration_test/`])).toEqual([]);
  expect(failedAfter(failed, [`${go} ./cmd/integration_test/ 2>&1 | tail -100`])).toEqual([]);
  expect(failedAfter(failed, [`${go} -run TestOther ./cmd/integration_test/`])).toHaveLength(1);
  expect(failedAfter(failed, [`${go} ./cmd/integration_test/resume`])).toHaveLength(1);
  expect(failedAfter(['npm run test:e2e', '1 failed'], ['npx playwright test packages/a/e2e'])).toHaveLength(1);
});

test('a check that a hook of a commit ran, and that passed, makes up for the same check before', () => {
  const failed = ['bun run test', '114 fail\nerror: script "test" exited with code 1'] as const;
  const commit = 'git commit -m x';
  expect(failedAfter(failed, [commit])).toEqual(['bun run test']);
  expect(resultsAfter(failed, [commit, undefined, '$ bun test\n1465 pass\n$ tsc --noEmit\n[main d513d5a] x'])).toEqual([
    'bun test passed',
    'tsc --noEmit passed',
    'the hooks of git commit passed',
  ]);
  // A hook that tests one folder may leave out what failed.
  expect(resultsAfter(failed, [commit, undefined, '$ bun test src/\n1329 pass\n[main d513d5a] x'])).toContain(
    'bun run test failed',
  );
  expect(failedAfter(failed, [commit, '$ bun test src/\n2 fail\nhusky - pre-commit script failed (code 1)'])).toEqual([
    'bun run test',
    'the hooks of git commit',
  ]);
});

test('a passed check stays one beside another command of its line that fails, or a package without tests', () => {
  const more = "Error: ENOENT: no such file or directory, open 'schema.json'";
  expect(
    resultsAfter([
      'go test ./terminal/ | tail -3 && golangci-lint run ./terminal/... | tail -2; node -e "JSON.parse(read())" && echo ok',
      `ok  x/terminal 0.094s\n0 issues.\n${more}`,
    ]),
  ).toEqual(['go test ./terminal/ passed', 'golangci-lint run ./terminal/... passed']);
  expect(
    resultsAfter(['go test ./... | tail -2', undefined, 'ok  x/e2e 41.2s\nok  x/harness 0.003s [no tests to run]']),
  ).toEqual(['go test ./... passed']);
  expect(
    resultsAfter(['go test ./...', 'FAIL'], ['go test ./... | grep -v "^ok" | grep -v "no test files"', undefined, '']),
  ).toEqual(['go test ./... passed']);
});

test('a check that ran as a part of another one passes with it', () => {
  const part = '$ oxfmt --check src\nFormat issues found in above 1 files.';
  const whole =
    '$ pnpm lint && pnpm format:check\n$ oxlint\n$ oxfmt --check src\nAll matched files use the correct format.';
  expect(failedAfter(['pnpm format:check', part], ['pnpm check', undefined, whole])).toEqual([]);
  expect(failedAfter(['pnpm format:check', part], ['pnpm check', undefined, '$ oxlint'])).toEqual([
    'pnpm format:check',
  ]);
});

test('a run that says that it ran no test is no passed check, and makes up for none', () => {
  expect(
    resultsAfter([
      'npx biome check a.astro',
      'Checked 0 files in 2ms.\n  × No files were processed in the specified paths.',
    ]),
  ).toEqual(['npx biome check a.astro ran nothing']);
  for (const [command, result] of [
    ['npx vitest run a.test.ts', 'No test files found, exiting with code 0'],
    ['npx jest --passWithNoTests', 'No tests found, exiting with code 0'],
    ['pytest -k x', 'collected 5 items / 5 deselected / 0 selected\n===== no tests ran in 0.01s ====='],
    ['pytest', 'collected 0 items'],
    ['go test ./... -run=^$', '?   \tx/a\t[no test files]\nok  \tx/b\t1.5s [no tests to run]'],
    ['cargo test x', 'running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 9 filtered out'],
    ['node --test', '# tests 0\n# pass 0'],
    ['npx mocha', '  0 passing (1ms)'],
  ] as const) {
    expect(resultsAfter([command, undefined, result])).toEqual([`${command} ran nothing`]);
    expect(resultsAfter(['npm test', '2 failed'], [command, undefined, result])[0]).toBe('npm test failed');
    expect(resultsAfter([command], [command, undefined, result])).toEqual([`${command} passed`]);
  }
  for (const result of [
    '?   \tx/a\t[no test files]\nok  \tx/b\t1.5s',
    'running 0 tests\n\nrunning 3 tests\ntest result: ok. 3 passed; 0 failed',
    'Test Files  3 passed (3)\n     Tests  30 passed (30)',
    '10 tests passed',
    ' 1351 pass\n 0 fail',
    '',
  ])
    expect(resultsAfter(['go test ./...', undefined, result])).toEqual(['go test ./... passed']);
});

test('a check whose end a pipe hides is no passed check unless what is left says so, and makes up for none', () => {
  const hidden = 'not seen to its end';
  expect(resultsAfter(['bun run test | head -50', undefined, '(pass) a'])).toEqual([`bun run test ${hidden}`]);
  expect(resultsAfter(['bun run test 2>&1 | grep fail', undefined, ''])).toEqual([`bun run test ${hidden}`]);
  expect(resultsAfter(['go test ./... | grep -v "^ok"', undefined, '?   \tx/a\t[no test files]'])).toEqual([
    'go test ./... passed',
  ]);
  expect(resultsAfter(['npm test | grep Tests:', undefined, 'Tests: 478 passed, 478 total'])).toEqual([
    'npm test passed',
  ]);
  for (const shown of ['npm test | tail -5', 'npm test', 'set -o pipefail; npm test | head', 'npx tsc | head -20'])
    expect(resultsAfter([shown])).toEqual([expect.stringContaining(' passed')]);
  expect(failedAfter(['npm test', '2 failed'], ['npm test | head', undefined, 'starts'])).toEqual(['npm test']);
});

test('a check behind a pipe has failed if its output counts failures', () => {
  const failures = ['3 issues:\n* goconst: 3', 'Found 2 errors in 1 file.', '✖ 4 problems (1 error, 3 warnings)'];
  for (const result of failures)
    expect(failedAfter(['npm run lint | tail -20', undefined, result])).toEqual(['npm run lint']);
  for (const result of ['0 issues.', '✖ 4 problems (0 errors, 4 warnings)', 'Fixed 3 files', ''])
    expect(failedAfter(['npm run lint 2>&1 | tail -20', undefined, result])).toEqual([]);
  expect(failedAfter(['npm test | tail', undefined, 'Tests 2 failed | 5 passed (7)'])).toEqual(['npm test']);
  expect(failedAfter(['npm test | tail', undefined, 'Tests 0 failed, 5 passed'])).toEqual([]);
});

test('a check that its host ended for its time has not failed: its result is not known', () => {
  const killed = 'Exit code 143\nCommand timed out after 5m 0s';
  expect(resultsAfter(['npm test', killed, killed])).toEqual(['npm test not seen to its end']);
});

test('a script that prints no exit code shows a failed check by its output, and one code for several checks tells nothing', () => {
  const after = (cmd: string, script: string, failed: boolean, result: string): readonly string[] => {
    const ledger = new CheckLedger();
    const args = { cmd, script };
    const call = { id: 'c', number: 1, tool: 'exec_command', args, seq: 0, startLost: false, resultMissing: false };
    ledger.fold({ ...call, failed }, result, undefined);
    return ledger.checks.map((check) => `${check.command} ${checkResult(check)}`);
  };
  expect(after('npm test', 'text(r.output)', false, '2 failed, 3 passed')).toEqual(['npm test failed']);
  expect(after('npm test', 'text(r.output)', false, '3 passed')).toEqual(['npm test passed']);
  expect(after('npm test\nnpm run lint', 'text(JSON.stringify(r))', true, 'exit code 1')).toEqual([
    'npm test not seen to its end',
    'npm run lint not seen to its end',
  ]);
});

test('a formatter that prints the files whose format is wrong has failed, although its exit code is 0', () => {
  expect(failedAfter(['gofmt -l internal/', undefined, 'internal/a.go'])).toEqual(['gofmt -l internal/']);
  expect(failedAfter(['gofmt -l -w internal/', undefined, 'internal/a.go'])).toEqual([]);
  expect(resultsAfter(['gofmt -l internal/', undefined, ''])).toEqual(['gofmt -l internal/ passed']);
});

test('a passed check of a part stands beside that of the whole project, until this one passes again', () => {
  const passed = ['go test ./... passed', 'go test ./a passed'];
  expect(resultsAfter(['go test ./...'], ['go test ./b'], ['go test ./a'])).toEqual(passed);
  expect(resultsAfter(['go test ./...'], ['go test ./a'], ['go test ./...'])).toEqual(['go test ./... passed']);
  expect(resultsAfter(['go test ./a'], ['go test ./b'])).toEqual(['go test ./b passed']);
});

test('a check of one folder does not make up for a failed one of the whole project, but for one of its files', () => {
  expect(failedAfter(['bun run test', '2 failed'], ['bun test src/'])).toEqual(['bun run test']);
  expect(failedAfter(['npx eslint .', '2 problems'], ['npx eslint src'])).toEqual(['npx eslint .']);
  expect(failedAfter(['npx vitest run src/a.test.ts', '1 failed'], ['npx vitest run src'])).toEqual([]);
  expect(failedAfter(['npx vitest run test/a.test.ts', '1 failed'], ['npx vitest run src'])).toEqual([
    'npx vitest run test/a.test.ts',
  ]);
});

test('notes of an analyser that exits with 0 for them are no failure, and behind a pipe its end is not seen', () => {
  const after = (result: string): readonly string[] => resultsAfter(['dart analyze lib | tail', undefined, result]);
  const note = "  info - a.dart:1:1 - Use 'const'. - prefer_const";
  expect(after(`${note}\n\n1 issue found.`)).toEqual(['dart analyze lib not seen to its end']);
  expect(after(`warning - a.dart:5:8 - Unused import. - unused_import\n\n3 issues found.`)).toEqual([
    'dart analyze lib failed',
  ]);
  expect(after('Analyzing lib...\nNo issues found!')).toEqual(['dart analyze lib passed']);
});

test('a check before a command whose exit code stands for both passed only if what is left says so', () => {
  const after = (command: string, result: string): readonly string[] =>
    checksAfter([[command, undefined, result]]).map((check) => checkResult(check));
  expect(after('npx eslint . -o a.json; python3 count.py', 'Total: 0')).toEqual(['not seen to its end']);
  expect(after('npx vitest run\ngit status', ' M a.ts')).toEqual(['not seen to its end']);
  expect(after('npm test; ls', '12 passed\na.ts')).toEqual(['passed']);
  expect(after('npx tsc --noEmit; echo done', 'a.ts(1,2): error TS2345: no\ndone')).toEqual(['failed']);
  expect(after('npx tsc --noEmit || true', '')).toEqual(['passed']);
  expect(after('ls node_modules || npm test', 'a')).toEqual(['not seen to its end']);
  expect(after('set -e; npm test; ls', 'a.ts')).toEqual(['passed']);
  expect(after('npm test && git add a.ts', '')).toEqual(['passed']);
  // The line prints the exit code of the check.
  expect(after('npx tsc --noEmit; echo "exit $?"', 'exit 0')).toEqual(['passed']);
  expect(after('npx tsc --noEmit; echo "EXIT=$?"', 'a.ts: no\nEXIT=2')).toEqual(['failed']);
  expect(after('mix credo; echo "CREDO_EXIT=$?"', 'found 1 warning\nCREDO_EXIT=24')).toEqual(['failed']);
  expect(after('npx tsc --noEmit | head -3; echo ${PIPESTATUS[0]}', '1')).toEqual(['failed']);
});

test('a check whose program is not installed could not run, which says nothing about the project', () => {
  expect(resultsAfter(['go build ./...', 'Exit code 127\nbash: line 1: go: command not found'])).toEqual([
    'go build ./... could not run: it was not found',
  ]);
  for (const shell of ['zsh:1', '(eval):1'])
    expect(resultsAfter(['python -m pyright a.py 2>&1 | tail -20', `${shell}: command not found: python`])).toEqual([
      'python -m pyright a.py could not run: it was not found',
    ]);
  const spawn = 'error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)';
  expect(resultsAfter(['uv run pytest', spawn])).toEqual(['uv run pytest could not run: it was not found']);
  expect(resultsAfter(['python -m pytest', '/usr/bin/python: No module named pytest'])).toEqual([
    'python -m pytest could not run: it was not found',
  ]);
  // The script ran, and what it needs is part of the project.
  expect(failedAfter(['npm test', 'sh: 1: helper: command not found'])).toEqual(['npm test']);
  expect(resultsAfter(['go build ./...', 'go: command not found'], ['/usr/local/go/bin/go build ./...'])).toEqual([
    '/usr/local/go/bin/go build ./... passed',
  ]);
});

test.each([
  ' ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)',
  ' ERR_PNPM_NO_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is absent',
  ' ERR_PNPM_ABORTED_REMOVE_MODULES_DIR_NO_TTY  Aborted removal of modules directory due to no TTY',
  'npm error code EBADENGINE\nnpm error engine Unsupported engine',
  'zsh:1: no matches found: gen-*',
])('a check that a shell or a package manager stopped before it began could not run: %s', (said) => {
  const why = 'could not run: it never began';
  expect(resultsAfter(['pnpm test', `Exit code 1\n${said}`])).toEqual([`pnpm test ${why}`]);
  // A check that passed or failed before stays, and a later one counts.
  expect(resultsAfter(['pnpm test'], ['pnpm test', said])).toEqual(['pnpm test passed']);
  expect(resultsAfter(['pnpm test', said], ['pnpm test', '1 failed'])).toEqual(['pnpm test failed']);
  // The script began, and what it runs stopped.
  expect(failedAfter(['pnpm test', `> app@1.0.0 test /app\n> ./run.sh\n\n${said}`])).toEqual(['pnpm test']);
});

test('a script that failed below pnpm has failed', () => {
  const said = ' ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  app@1.0.0 test: `vitest run`\nExit status 1';
  expect(failedAfter(['pnpm -r test', said])).toEqual(['pnpm -r test']);
});

test('a formatter that writes is no check, and makes up for a check of the format that failed', () => {
  expect(resultsAfter(['cargo fmt --check', 'Diff in a.rs'], ['cargo fmt'])).toEqual([]);
  expect(resultsAfter(['npx prettier --check a.md', 'a.md'], ['npx prettier --write a.md'])).toEqual([]);
  expect(resultsAfter(['cargo fmt'], ['uvx ruff format src', 'error: no'])).toEqual([]);
  expect(failedAfter(['cargo clippy', 'error: unused'], ['cargo fmt'])).toEqual(['cargo clippy']);
});

test('a check of another project is another check, and makes up for none of this one', () => {
  const ledger = new CheckLedger();
  const run = (number: number, workdir: string, failed: boolean): void => {
    const call = {
      id: `c${number}`,
      number,
      tool: 'exec_command',
      seq: number,
      startLost: false,
      resultMissing: false,
    };
    ledger.fold({ ...call, args: { cmd: 'npm test', workdir }, failed }, failed ? '1 failed' : '9 passed', undefined);
  };
  run(1, '/home/ann/shop', true);
  run(2, '/home/ann/action', false);
  const results = (): readonly string[] => ledger.checks.map((check) => `${check.command} ${checkResult(check)}`);
  expect(results()).toEqual(['npm test failed', 'npm test in action passed']);
  run(3, '/home/ann/shop.worktrees/fix', false);
  expect(results()).toEqual(['npm test in action passed', 'npm test passed']);
});

test('one check in two folders is two checks, and one in a folder around both makes up for both', () => {
  const flake = 'nix flake check';
  expect(resultsAfter([`cd a && ${flake}`, 'error: no'], [`cd b && ${flake}`])).toEqual([
    `${flake} failed`,
    `${flake} in b passed`,
  ]);
  const [web, api, root] = ['cd /w/web && npm test', 'cd /w/api && npm test', 'cd /w && npm test'];
  expect(resultsAfter([web], [api, '1 failed'], ['cd api && npm test'], [api, '2 failed'])).toEqual([
    'npm test passed',
    'npm test in api failed',
  ]);
  expect(resultsAfter([root], [web, '1 failed'], [api])).toEqual([
    'npm test passed',
    'npm test in web failed',
    'npm test in api passed',
  ]);
  expect(failedAfter([root], [web, '1 failed'], [root])).toEqual([]);
  // A name alone says nothing of the folder around it, a worktree has the same project, and no name is any of them.
  expect(resultsAfter(['cd web && npm test', '1 failed'], [web])).toEqual(['npm test passed']);
  expect(resultsAfter([root, '1 failed'], ['cd /w/.worktrees/fix && npm test'])).toEqual(['npm test passed']);
  expect(resultsAfter([root, '1 failed'], ['npm test'], ['cd "$dir" && npm test'], ['cd .. && npm test'])).toEqual([
    'npm test passed',
  ]);
  expect(failedAfter([web], [api, '1 failed'], ['npm test'])).toEqual([]);
  expect(failedAfter([web], ['npm test', '1 failed'], [api])).toEqual([]);
  // The folder of a check is that of the last `cd` before it.
  expect(resultsAfter([web], ['cd /w/api && ls && cd ../web && npm test'], ['(cd /w/api && ls) && npm test'])).toEqual([
    'npm test passed',
  ]);
  expect(resultsAfter([web], ['cd api && npx vitest run', '1 failed'], ['cd api && npm test'])).toEqual([
    'npm test passed',
    'npm test in api passed',
  ]);
  expect(resultsAfter(['cd "C:\\w\\web" && npm test'], ['cd /C/w/web && npm test'])).toEqual(['npm test passed']);
  expect(resultsAfter([`${web} && cd ../api && npm test`])).toEqual(['npm test passed', 'npm test in api passed']);
});

test('of several checks in one line that failed, their own words tell which one', () => {
  const line = 'cd api && black --check src && isort --check-only src && flake8 src && mypy src && pytest -q';
  const black = 'All done!\n195 files would be left unchanged.\n';
  const failed = (result: string): readonly string[] => resultsAfter([line, `${result}\nCommand exited with code 1`]);
  expect(failed('would reformat src/a.py\n193 files would be left unchanged.')).toEqual(['black --check src failed']);
  expect(failed(`${black}ERROR: src/a.py Imports are incorrectly sorted`)).toEqual([
    'black --check src passed',
    'isort --check-only src failed',
  ]);
  expect(failed(`${black}src/a.py:136: error: Bad type\nFound 1 error in 1 file (checked 91 source files)`)).toEqual([
    'black --check src passed',
    'isort --check-only src passed',
    'flake8 src passed',
    'mypy src failed',
  ]);
  expect(failed(`${black}Success: no issues found in 94 source files\n1 failed, 9 passed in 9s`).at(-1)).toBe(
    'pytest -q failed',
  );
});

test('a chain of checks that failed without a word that tells which one is named as a whole', () => {
  const misuse = 'a.go:19:13: possible misuse of unsafe.Pointer';
  expect(resultsAfter(['go build ./... && go vet ./... && go test ./...', misuse])).toEqual([
    'go build ./... && go vet ./... failed',
  ]);
  expect(resultsAfter(['npm run lint && npm run build', 'exit status 1'])).toEqual([
    'npm run lint && npm run build failed',
  ]);
  expect(resultsAfter(['npm run lint && npm run build', 'exit status 1'], ['npm run lint'])).toEqual([
    'npm run lint && npm run build failed',
    'npm run lint passed',
  ]);
  expect(failedAfter(['npm run lint && npm run build', 'exit status 1'], ['npm run lint'], ['npm run build'])).toEqual(
    [],
  );
});

test('a check after a command that failed did not fail', () => {
  const noFolder = '/bin/bash: line 1: cd: src: No such file or directory';
  expect(resultsAfter(['cd src && go test ./...', noFolder])).toEqual(['go test ./... could not run: it never began']);
  const noFile = "sed: can't read a.go: No such file or directory";
  const line = 'sed -i s/a/b/ a.go && go test ./a && golangci-lint run ./a | tail -1';
  expect(resultsAfter([line, noFile])).toEqual([
    'go test ./a not seen to its end',
    'golangci-lint run ./a not seen to its end',
  ]);
  expect(failedAfter([line, '--- FAIL: TestA\nFAIL\tx/a'])).toEqual(['go test ./a']);
});

test('a linter or compiler behind a pipe failed if it shows a finding', () => {
  const finding = '# x/svg\nvet.exe: svg\\a_test.go:179:28: geo.margin undefined';
  expect(resultsAfter(['go build ./... && go vet ./svg/ 2>&1 | head -20', undefined, finding])).toEqual([
    'go build ./... passed',
    'go vet ./svg/ failed',
  ]);
  const style = '[warn] src/a.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.';
  expect(resultsAfter(['npx prettier --check src 2>&1 | tail -3', undefined, style])).toEqual([
    'npx prettier --check src failed',
  ]);
});

test('a search at the end of a line hides that a compiler before it failed', () => {
  const line = 'gofmt -l .; echo "---"; go build ./... && go vet ./... && go test ./... 2>&1 | grep -v "^ok"';
  const finding = '---\ncache/file_map.go:204:13: possible misuse of unsafe.Pointer';
  expect(failedAfter([line, undefined, finding])).toEqual(['go build ./... && go vet ./...']);
});

test('colours do not hide what tests say', () => {
  const shown = '\u001B[32mTests Passed: 258, \u001B[0m\u001B[90mFailed: 0, \u001B[0m\u001B[90mSkipped: 0\u001B[0m';
  expect(resultsAfter(['pwsh -Command "Invoke-Pester ./tests" 2>&1 | tail -8', undefined, shown])).toEqual([
    'Invoke-Pester ./tests passed',
  ]);
});

test('input that a command does not take says nothing of the command', () => {
  const runs = 'Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 54071\nOutput:\n';
  const closed = 'write_stdin failed: stdin is closed for this session';
  const ended = 'Chunk ID: b\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\nok  \tx/y\t1.2s';
  const calls: readonly Call[] = [
    ['go test -race ./...', undefined, runs],
    ['54071', closed],
    ['54071', undefined, ended],
  ];
  expect(resultsAfter(...calls.slice(0, 2))).toEqual(['go test -race ./... not seen to its end']);
  expect(resultsAfter(...calls)).toEqual(['go test -race ./... passed']);
  const elsewhere = 'stat /w/brain/cmd/sem: directory not found';
  expect(resultsAfter(['go build -o /tmp/x ./cmd/sem', elsewhere])).toEqual([
    'go build -o /tmp/x ./cmd/sem could not run: it never began',
  ]);
});

test('a command that a host says is still running has not passed', () => {
  const running =
    'Discovery found 276 tests in 2s.\n<command with shellId: 44 is still running after 30 seconds. Use read_powershell to continue waiting.>';
  expect(resultsAfter(['Invoke-Pester ./tests -CI | Select-Object -Last 40', undefined, running])).toEqual([
    'Invoke-Pester ./tests -CI not seen to its end',
  ]);
});

test('an exit code that a line prints is that of its last command', () => {
  const line = 'go build -o /tmp/app ./cmd && cd /tmp && /tmp/app enable --agent 2>&1; echo "---exit: $?"';
  expect(resultsAfter([line, undefined, 'Missing agent name.\n---exit: 1'])).toEqual([
    'go build -o /tmp/app ./cmd not seen to its end',
  ]);
  expect(resultsAfter(['go build ./...; echo "exit $?"', undefined, 'a.go:1:1: undefined: x\nexit 1'])).toEqual([
    'go build ./... failed',
  ]);
});

test('the words of one check are not those of another, and tests that found none ran none', () => {
  const line = 'go test ./... -count=1 2>&1 | tail -20 && echo "---LINT---" && golangci-lint run ./... 2>&1 | tail -5';
  const shown =
    'ok  \tx/git-sync\t0.388s\n---LINT---\na.go:823:8: string has 6 occurrences (goconst)\n1 issues:\n* goconst: 1';
  expect(resultsAfter([line, undefined, shown])).toEqual([
    'go test ./... -count=1 passed',
    'golangci-lint run ./... failed',
  ]);
  const none = '> jest --passWithNoTests -- shares\n\nNo tests found, exiting with code 0';
  expect(resultsAfter(['pnpm --filter api test -- shares 2>&1 | tail -40', undefined, none])).toEqual([
    'pnpm --filter api test -- shares ran nothing',
  ]);
});

test('a commit that could not be signed is no failure of its hooks', () => {
  const shown =
    '[COMPLETED] eslint --fix\nerror: 1Password: failed to fill whole buffer\nfatal: failed to write commit object';
  expect(failedAfter(['git commit -m x', shown])).toEqual([]);
  expect(failedAfter(['git commit -m x', '$ npm test\n2 failed'])).toEqual(['the hooks of git commit']);
});

test('a check of two files stands beside the same check of their folders', () => {
  const wide = ['ruff check src/ tests/'] as const;
  const part = ['ruff check src/a.py tests/b.py'] as const;
  expect(resultsAfter(wide, part)).toEqual(['ruff check src/ tests/ passed', 'ruff check src/a.py tests/b.py passed']);
  expect(resultsAfter(wide, part, wide)).toEqual(['ruff check src/ tests/ passed']);
  expect(failedAfter(['ruff check src/ tests/', 'Found 2 errors.'], part)).toEqual(['ruff check src/ tests/']);
});

test('a check with build tags is another check, and one outside of a module never began', () => {
  const failed = ['go build -tags=e2e ./...', './a.go:3:1: undefined: agentBinaries'] as const;
  expect(failedAfter(failed, ['go build ./...'])).toEqual(['go build -tags=e2e ./...']);
  expect(failedAfter(failed, ['go build -tags=e2e ./...'])).toEqual([]);
  expect(failedAfter(failed, ['mise run ci'])).toEqual([]);
  const integration = ['go test -tags=integration ./it', 'FAIL'] as const;
  expect(failedAfter(integration, ['mise run test:integration'])).toEqual([]);
  const outside = 'pattern ./e2e/...: directory prefix e2e does not contain main module or its selected dependencies';
  expect(resultsAfter(['go build ./e2e/...', outside])).toEqual(['go build ./e2e/... could not run: it never began']);
});

test('of tests that say they passed before a push that failed it is not known how they ended', () => {
  const shown = 'ℹ tests 2\nℹ pass 2\nℹ fail 0\nfatal: unable to access the remote';
  expect(resultsAfter(['npm test && git push origin main', shown])).toEqual(['npm test not seen to its end']);
  expect(failedAfter(['npm test && npm run build && ./deploy.sh', '12 passed\nbuild stopped'])).toEqual([
    'npm test && npm run build',
  ]);
  expect(failedAfter(['npm test && git push origin main', 'ℹ pass 1\nℹ fail 1'])).toEqual(['npm test']);
});

test('hooks that failed after checks of the same line are named, however the checks ended', () => {
  const refused = 'husky - pre-commit script failed (code 1)';
  const line = 'npx eslint . && npx vitest run && git commit -m x';
  expect(failedAfter([line, ` Tests  3 passed (3)\n${refused}`])).toEqual(['the hooks of git commit']);
  expect(failedAfter(['npm test && git commit -m x', `3 passed\n${refused}`])).toEqual(['the hooks of git commit']);
});

test('a check that failed for its machine says what that lacked, only if its output says nothing else', () => {
  const after = (result: string): readonly string[] => resultsAfter(['pnpm build', result]);
  const failed = 'pnpm build failed';
  const refused =
    "  code: 'ECONNREFUSED',\n  address: '127.0.0.1',\n  port: 5432\n}\nError: Timed out waiting 120000ms from config.webServer.\n ELIFECYCLE  Test failed.";
  expect(after(refused)).toEqual([`${failed}: it could not reach its database`]);
  const unknown =
    '[ERROR] fetch failed\n  Caused by:\n  getaddrinfo ENOTFOUND cdn.x.net\n    at GetAddrInfo (node:dns:122:26)';
  expect(after(unknown)).toEqual([`${failed}: it could not reach the network`]);
  expect(after('Error: DATABASE_URL is not set')).toEqual([`${failed}: an environment variable is not set`]);
  for (const more of ['\n✔ Found an existing install', '\n Tests  1 failed | 6 passed', '\na.ts(1,2): error TS1: x'])
    expect(after(`${unknown}${more}`)).toEqual([failed]);
});

test('a line that shows its failure no more is not seen to its end, and one that its host ended neither', () => {
  const line = 'npx tsc --noEmit 2>&1 | grep -i footer';
  const failed = [line, undefined, 'footer.tsx:11:22 - error TS7016: x'] as const;
  expect(resultsAfter(failed, [line, undefined, '(no output)'])).toEqual(['npx tsc --noEmit not seen to its end']);
  expect(failedAfter(failed, ['npx tsc --noEmit | grep other', undefined, '(no output)'])).toHaveLength(1);
  const ended =
    '❌ one\n<bash_metadata>\nbash tool terminated command after exceeding timeout 240000 ms\n</bash_metadata>';
  expect(resultsAfter(['npm test', undefined, ended])).toEqual(['npm test not seen to its end']);
});

test('the same check with another compiler makes up for it, and a program that a script does not find is not there', () => {
  const failed = ['cargo test --no-run', 'error: rustc 1.93.0 is not supported'] as const;
  expect(failedAfter(failed, ['cargo +1.96.0 test', undefined, 'test result: ok. 4 passed; 0 failed'])).toEqual([]);
  const shown = '> nx run api:lint\n\n> uvx ruff check .\n\n/bin/sh: uvx: command not found';
  expect(resultsAfter(['pnpm nx lint api | tail', undefined, shown])).toEqual([
    'pnpm nx lint api could not run: it was not found',
  ]);
});

test('a target of the task behind a pipe failed if its runner says so', () => {
  const resultOf = (command: string, result: string): string | undefined => {
    const [check] = checksAfter([[`${command} 2>&1 | tail -5`, undefined, result]], 'Run make image and node sum.mjs.');
    return check && checkResult(check);
  };
  expect(resultOf('make image', 'cc -c a.c\nmake: *** [Makefile:9: out/a.o] Error 2')).toBe('failed');
  expect(resultOf('make image', 'make: *** [Makefile:9: lint] Error 1 (ignored)\ndone')).toBe('not seen to its end');
  expect(resultOf('make image', 'the log says Error 2')).toBe('not seen to its end');
  expect(resultOf('node sum.mjs', 'make: *** [x] Error 2')).toBe('not seen to its end');
});

test('a command of old Codex is the line that its shell runs, and one that a signal ended is not seen to its end', () => {
  const ledger = new CheckLedger();
  const lines = [
    ['head -n 20 /opt/bin/pytest', '#!/bin/sh'],
    ['npm run lint', 'failed in sandbox: sandbox error: command was killed by a signal'],
  ] as const;
  for (const [index, [line, result]] of lines.entries()) {
    const call = { id: `c${index}`, number: index + 1, tool: 'shell', args: { command: ['bash', '-lc', line] } };
    const failed = index === 1;
    ledger.fold({ ...call, seq: index, startLost: false, resultMissing: false, failed }, result, undefined);
  }
  expect(ledger.checks.map((check) => `${check.command} ${checkResult(check)}`)).toEqual([
    'npm run lint not seen to its end',
  ]);
});

test('a check of the syntax makes up for no other one, stands for its own files, and only leads to another check of its line', () => {
  const tests = ['npm test', '2 failed'] as const;
  expect(failedAfter(tests, ['node --check src/a.js'])).toEqual(['npm test']);
  const broken = ['bash -n a.sh', 'a.sh: line 3: syntax error near unexpected token'] as const;
  expect(failedAfter(broken, ['bash -n b.sh'])).toEqual(['bash -n a.sh']);
  expect(failedAfter(broken, ['bash -n a.sh b.sh'])).toEqual([]);
  expect(failedAfter(broken, broken, ['bash -n a.sh'])).toEqual([]);
  expect(failedAfter(['node --check src/a.js && npm test', '2 failed'], ['npm test'])).toEqual([]);
  expect(resultsAfter(['node --check src/a.js && npm test', undefined, '3 passed'])).toEqual(['npm test passed']);
  expect(resultsAfter(['node --check a.js || echo BAD', undefined, "SyntaxError: Unexpected token '}'\nBAD"])).toEqual([
    'node --check a.js failed',
  ]);
});

test('a build of an image makes up for no failed one of another image', () => {
  const failed = [
    'docker build -t a -f a/Dockerfile .',
    'ERROR: failed to solve: process "/bin/sh -c npm ci"',
  ] as const;
  expect(failedAfter(failed, ['docker build -t b -f b/Dockerfile .'])).toEqual([failed[0]]);
  expect(failedAfter(failed, ['docker build --no-cache -t a -f a/Dockerfile .'])).toEqual([]);
  expect(failedAfter(failed, ['docker build -t a -f /w/a/Dockerfile /w'])).toEqual([]);
  const cut = 'docker build -t a -f a/Dockerfile . 2>&1 | tail -40';
  expect(failedAfter([cut, undefined, '\tgithub.com/moby/buildkit/solver/jobs.go:1182'])).toHaveLength(1);
  expect(resultsAfter([cut, undefined, '#53 naming to docker.io/library/a:latest done\n#53 DONE 30.2s'])).toEqual([
    'docker build -t a -f a/Dockerfile . passed',
  ]);
  expect(checksAfter([[cut, undefined, '#9 DONE 0.1s']])[0]?.isHidden).toBe(true);
});
