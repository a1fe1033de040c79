import { expect, test } from 'vitest';

import { checkCommandOf } from './check-command.ts';

test.each([
  ['npm test', 'npm test'],
  ['cd app && npm run test -- --watch=false', 'npm run test'],
  ['(cd api; npx vitest run src/a.test.ts) 2>&1 | tail -5', 'npx vitest'],
  ['node_modules/.bin/jest a', 'node_modules/.bin/jest'],
  ['cargo clippy --all', 'cargo clippy'],
  ['python -m pytest -x', 'python -m pytest'],
  ['go test ./...', 'go test'],
  ['./gradlew test', './gradlew test'],
  ['sudo -u ci timeout 60 make test', 'make test'],
  ['pnpm --filter @app/api exec jest --coverage', 'jest'],
  ['bash -lc "cd api; npx  tsc -p ."', 'npx tsc'],
])('%s is a check', (command, key) => {
  expect(checkCommandOf({ command })?.key).toBe(key);
});

test.each([
  'git add jest.config.js',
  'cat src/eslint.config.ts',
  'npm install vitest-mock',
  'ls tests',
  'make install',
  'echo contest',
  'echo run npm test before you push',
  'npm install eslint',
  'grep -n jest package.json',
  `git add a && git commit -m "$(cat <<'EOF'\nRemoves its "env vars", and jest coverage config.\nnpm test\nEOF\n)"`,
])('%s is not a check', (command) => {
  expect(checkCommandOf({ command })).toBeUndefined();
});

test('the command is shown from the check on, and a list of words is a command too', () => {
  expect(checkCommandOf({ cmd: ['bash', '-lc', 'cd x && npm  test'] })?.command).toBe('npm test');
  expect(checkCommandOf('npm test')).toBeUndefined();
});
