import { expect, test } from 'vitest';

import { failedAfter, resultsAfter } from '../../../test/support/checks-after.ts';

test('a failed test makes up for itself, from whatever folder its path begins and whatever part of the file ran', () => {
  const failed = ['npx playwright test tests/share.spec.ts | grep failed', undefined, '  1 failed'] as const;
  const passed = ' 20 passed (17.8s)';
  expect(failedAfter(failed, ['pnpm --filter e2e test -- tests/e2e/tests/share.spec.ts', undefined, passed])).toEqual(
    [],
  );
  expect(failedAfter(failed, ['npx playwright test tests/other.spec.ts', undefined, passed])).toHaveLength(1);
  const one = ['pytest tests/test_a.py::test_x', '1 failed in 0.1s'] as const;
  expect(failedAfter(one, ['pytest tests/test_a.py'])).toEqual([]);
  expect(failedAfter(one, ['pytest tests/test_a.py::test_y'])).toHaveLength(1);
  expect(failedAfter(['pytest tests/test_a.py', '1 failed in 0.1s'], ['pytest tests/test_a.py::test_x'])).toHaveLength(
    1,
  );
});

test('what a script runs, as its package manager prints it, makes up for the same check', () => {
  const failed = ['npx @biomejs/biome check --write src/a.ts', 'Checked 1 file in 3ms.\nFound 1 error.'] as const;
  const script = (command: string): string =>
    `\n> app@0.37.0 check\n> ${command}\n\nChecked 688 files in 782ms. No fixes applied.`;
  expect(failedAfter(failed, ['npm run check', undefined, script('ultracite check')])).toEqual([]);
  expect(failedAfter(failed, ['npm run check', undefined, script('tsc --noEmit')])).toHaveLength(1);
  const wrong = ['npm run lint -- --apply || true', undefined, "error: unknown option '--apply'"] as const;
  expect(failedAfter(wrong, ['npm run check', undefined, script('ultracite check')])).toEqual([]);
  const types = ['npm run lint', '> app@1.0.0 lint\n> tsc --noEmit && eslint src\n\n✖ 2 problems (2 errors)'] as const;
  expect(failedAfter(types, ['npx eslint src'])).toEqual([]);
});

test('the folder of a suite, or tests and types of the same packages, make up for what failed in them', () => {
  const suite = ['mise run test:integration | grep FAIL', undefined, '--- FAIL: TestResume'] as const;
  expect(
    failedAfter(suite, [
      'go test -tags=integration -count=1 ./cmd/integration_test/ 2>&1',
      undefined,
      'ok  \ta/it\t51s',
    ]),
  ).toEqual([]);
  const build = ['go build -tags=e2e ./e2e_test/...', '# a/e2e\na.go:1:2: undefined: x'] as const;
  expect(failedAfter(build, ['go vet -tags=e2e ./e2e_test/...', undefined, ''])).toEqual([]);
  expect(failedAfter(build, ['go vet ./e2e_test/...', undefined, ''])).toHaveLength(1);
});

test('a check behind a command that failed, or beside one whose words it shares, has not failed', () => {
  expect(
    resultsAfter(['npm run format -- --write && npx biome check --write a.ts', "error: unknown option '--write'"]),
  ).toEqual(['npx biome check --write a.ts not seen to its end']);
  expect(
    resultsAfter([
      'npx biome format --write a.ts\nnpm run check',
      'Formatted 1 file.\n> app@1.0.0 check\n> ultracite check\nFound 2 errors.',
    ]),
  ).toEqual(['npx biome format --write a.ts not seen to its end', 'npm run check failed']);
});

test('a failed run of all tests is made up for when each file that failed in it passes', () => {
  const failed = [
    'npm test',
    ' FAIL  tests/a.test.ts > adds\n FAIL  |ui| tests/b.test.ts > x\n Test Files  2 failed | 229 passed (231)',
  ] as const;
  const passed = (file: string) => [`npm test -- ${file}`, undefined, ' Tests  3 passed (3)'] as const;
  expect(failedAfter(failed, passed('tests/a.test.ts'))).toEqual(['npm test']);
  expect(failedAfter(failed, passed('tests/a.test.ts'), passed('tests/b.test.ts'))).toEqual([]);
  expect(failedAfter(failed, passed('tests/'))).toEqual([]);
  expect(failedAfter(failed, passed('tests/ -t adds'))).toEqual(['npm test']);
  const more = [failed[0], failed[1].replace('2 failed', '3 failed')] as const;
  expect(failedAfter(more, passed('tests/'))).toEqual(['npm test']);
  const python = [
    'pytest',
    'FAILED tests/test_a.py::test_x - x\nERROR tests/test_b.py\n=== 1 failed, 1 error in 0.5s ===',
  ] as const;
  expect(failedAfter(python, ['pytest tests/test_a.py::test_x tests/test_b.py'])).toEqual([]);
  expect(failedAfter(python, ['pytest tests/test_a.py'])).toEqual(['pytest']);
});

test('of several checks behind pipes, the words of a failure are those of the script that they name, or of one of them', () => {
  const line = 'pnpm lint 2>&1 | tail -2 && pnpm test 2>&1 | tail -4 && pnpm format:check 2>&1 | tail -3';
  const named =
    ' Tests  18 passed (18)\n[ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL] a@0.0.1 format:check: `oxfmt --check ./a`\n[ELIFECYCLE] Command failed with exit code 1.';
  expect(failedAfter([line, undefined, named])).toEqual(['pnpm format:check']);
  expect(failedAfter([line, undefined, named], ['npx oxfmt --check ./a', undefined, ''])).toEqual([]);
  expect(failedAfter([line, undefined, ' ELIFECYCLE  Command failed with exit code 1.'])).toEqual([
    'pnpm lint && pnpm test && pnpm format:check',
  ]);
});

test('a target that its name says is a part makes up for no other target', () => {
  for (const [whole, part] of [
    ['npm test', 'npm run test:unit'],
    ['npm run check', 'npm run bindings:check'],
    ['npm run lint', 'npm run lint:css'],
  ] as const)
    expect(failedAfter([whole, 'it failed'], [part])).toEqual([whole]);
  expect(failedAfter(['npm run lint', 'it failed'], ['npm run lint:fix'])).toEqual([]);
  expect(failedAfter(['npm run lint:css', 'it failed'], ['npm run lint'])).toEqual([]);
});
