import { expect, test } from 'vitest';

import { checkCommandsOf, hooksOf } from './check-command.ts';

test.each([
  ['npm test', 'npm test'],
  ['cd app && npm run test -- --watch=false', 'npm run test'],
  ['(cd api; npx vitest run src/a.test.ts) 2>&1 | tail -5', 'vitest'],
  ['node_modules/.bin/jest a', 'jest'],
  ['cargo clippy --all', 'cargo clippy'],
  ['python -m pytest -x', 'python -m pytest'],
  ['go test ./...', 'go test'],
  ['./gradlew test', 'gradlew test'],
  ['sudo -u ci timeout 60 make test', 'make test'],
  ['pnpm --filter @app/api exec jest --coverage', 'jest'],
  ['mise run test:ci 2>&1 | tail -40', 'mise run test:ci'],
  ['rtk bun run lint', 'bun run lint'],
  ['just verify', 'just verify'],
  ['make -C api clean lint', 'make -C api clean lint'],
  ['uv run pytest -q', 'pytest'],
  ['nx run web:test', 'nx run web:test'],
  ['gradle :app:testDebugUnitTest', 'gradle :app:testDebugUnitTest'],
  ['composer run-script phpstan-check', 'composer run-script phpstan-check'],
  ['git ls-files -z | xargs -0 bunx biome check', 'biome check'],
  ['npx --yes github-actionlint@latest .github/workflows/a.yml', 'github-actionlint'],
  ['dart analyze lib/profiles/ 2>&1', 'dart analyze'],
  ['flutter analyze --no-fatal-infos', 'flutter analyze'],
  ['vendor/bin/phpstan analyse src', 'phpstan'],
  ['cargo fmt --all -- --check', 'cargo fmt'],
  ['fnm exec --using=24 corepack pnpm node --run check', 'node --run check'],
  ['mix credo --strict', 'mix credo'],
  ['cd infra && terraform validate', 'terraform validate'],
  ['npx next build', 'next build'],
  ['pre-commit run --all-files', 'pre-commit run'],
  ['mix precommit', 'mix precommit'],
  ['python3 manage.py test core', 'python3 manage.py test'],
  ['./manage.py check', 'manage.py check'],
  ['pnpm nx run @ci/server:typecheck', 'nx run @ci/server:typecheck'],
  ['bash -lc "cd api; npx  tsc -p ."', 'tsc'],
  ['nix flake check', 'nix flake check'],
  ['./scripts/test-filter.sh tmux 2>&1 | tail -3', 'scripts/test-filter.sh'],
  ['cd infra && bash validate_config.sh', 'validate_config.sh'],
  ['bun "scripts/opencode/test-tool-output.ts"', 'scripts/opencode/test-tool-output.ts'],
  ['uv run python scripts/verify_mounts.py', 'scripts/verify_mounts.py'],
  ['bash -n scripts/test-filter.sh', 'bash -n scripts/test-filter.sh'],
  ['cd web && node --check src/a.js && echo ok', 'node --check src/a.js'],
  ['uv run python3.12 -m py_compile a.py', 'python3.12 -m py_compile a.py'],
  ['docker exec web php -l index.php', 'php -l index.php'],
  ['ansible-playbook site.yml --syntax-check', 'ansible-playbook site.yml --syntax-check'],
  ['docker build --no-cache -t app -f web/Dockerfile .', 'docker build -t app Dockerfile'],
  ['xcodebuild -scheme App -quiet test', 'xcodebuild -scheme App test'],
  ['swiftc -typecheck a.swift', 'swiftc -typecheck'],
  ['helm lint ./chart', 'helm lint'],
])('%s is a check', (command, key) => {
  expect(checkCommandsOf({ command })[0]?.key).toBe(key);
});

test.each([
  'git add jest.config.js',
  'golangci-lint version',
  'dart pub get',
  'docker compose up -d',
  'docker ps --filter name=build',
  'terraform plan',
  'vite --host',
  'mise which golangci-lint',
  'golangci-lint config verify --help',
  'npx vitest --version',
  'npx tsc --init',
  'cat src/eslint.config.ts',
  'npm install vitest-mock',
  'ls tests',
  'make install',
  'echo contest',
  'echo run npm test before you push',
  'npm install eslint',
  'npm search actionlint --json',
  'command -v actionlint || true',
  'which eslint',
  'pnpm why vitest',
  'npm ci',
  'bun run build.ts',
  'go run ./cmd/test',
  'mise run dev',
  'bun add -d vitest',
  'grep -n jest package.json',
  'chmod +x scripts/test-filter.sh',
  'bash -n /tmp/a.sh',
  'for f in *.sh; do bash -n "$f"; done',
  'bash scripts/run.sh -n',
  'ssh host -n',
  'docker compose up --build',
  'docker compose build web',
  'xcodebuild -list',
  'bash /tmp/test-filter.sh',
  'node test-probe.mjs',
  'python3 /home/me/.codex/skills/fix-ci/scripts/inspect_checks.py',
  `git add a && git commit -m "$(cat <<'EOF'\nRemoves its "env vars", and jest coverage config.\nnpm test\nEOF\n)"`,
])('%s is not a check', (command) => {
  expect(checkCommandsOf({ command })).toEqual([]);
});

test('the command is shown without the commands and variables around it, and a list of words is a command too', () => {
  expect(checkCommandsOf({ command: 'PATH="$PATH:/c/Program Files/Go/bin" CI=1 go test ./...' })[0]?.command).toBe(
    'go test ./...',
  );
  expect(checkCommandsOf({ cmd: ['bash', '-lc', 'cd x && npm  test'] })[0]?.command).toBe('npm test');
  expect(checkCommandsOf({ command: 'env A=1 fnm exec --using=24 -- corepack pnpm vitest run a' })[0]?.command).toBe(
    'vitest run a',
  );
  expect(checkCommandsOf('npm test')).toEqual([]);
});

test('a command that the task names is a whole command there', () => {
  const task = 'Why does `go run ./cmd/sync` fail? Try node check.mjs.';
  expect(checkCommandsOf({ command: 'go run . 2>&1 | head' }, task)).toEqual([]);
  expect(checkCommandsOf({ command: 'node check.mjs' }, task)).toHaveLength(1);
  for (const command of [
    'flutter pub get',
    'bd ready',
    'git ls-remote --heads origin',
    'adb root',
    'devbox shell',
    'npm run',
    'ncu -u',
    'dart fix --apply',
    'entire --help',
    'workmux status core',
    'uv run python -c "from app import run"',
  ])
    expect(checkCommandsOf({ command }, `${command}. Run ${command} first: from app import run`)).toEqual([]);
});

test('every check of a line counts, and a command that the task names is a check', () => {
  const keysOf = (command: string, task?: string): readonly string[] =>
    checkCommandsOf({ command }, task).map(({ key }) => key);
  expect(keysOf('mise run fmt && mise run lint && mise run test:ci 2>&1 | tail')).toEqual([
    'mise run lint',
    'mise run test:ci',
  ]);
  expect(keysOf('node check.mjs')).toEqual([]);
  expect(keysOf('cd app && node accept.mjs 2>&1', 'Work until `node accept.mjs` passes')).toEqual(['node accept.mjs']);
  expect(keysOf('git status', 'Run git status first')).toEqual([]);
  const code = 'from app import Dataset\nds = Dataset()\nprint ds';
  expect(keysOf(`edit 1:9\n${code}\nend_of_edit`, `This fails:\n${code}`)).toEqual([]);
  expect(keysOf('ds = Dataset()', `This fails:\n${code}`)).toEqual([]);
});

test('a benchmark that selects no test, and a look at a task, is no check', () => {
  expect(checkCommandsOf({ command: 'mise task info test:e2e' })).toEqual([]);
  expect(checkCommandsOf({ command: 'go test -bench Write -run XXX ./a | grep Solid' })).toEqual([]);
  expect(checkCommandsOf({ command: 'go test -bench Write ./a' })).toHaveLength(1);
});

test('a check of a part of the project is told from one of all of it', () => {
  const isWide = (command: string): boolean | undefined => checkCommandsOf({ command })[0]?.isWide;
  expect(['npm test', 'go test -race ./...', 'bun test', 'npx tsc --noEmit'].map(isWide)).not.toContain(false);
  expect(
    ['npx vitest run a.test.ts', 'go test ./a -run X', 'pnpm --filter web build', 'pytest -k a', 'bun test src/'].map(
      isWide,
    ),
  ).not.toContain(true);
});

test('the hooks of a commit check what they show', () => {
  const commit = { command: 'git commit -m x' };
  expect(hooksOf(commit, '$ bun test src/\n 12 pass\n[main 1a2b3c4] x')?.failed).toBe(false);
  expect(hooksOf(commit, 'ruff....................Passed\n[main 1a2b3c4] x')?.failed).toBe(false);
  expect(hooksOf(commit, '$ tsc\nerror\nhusky - pre-commit script failed (code 2)')?.failed).toBe(true);
  expect(hooksOf(commit, '[main 1a2b3c4] x\n 1 file changed')).toBeUndefined();
  expect(
    hooksOf(commit, '[COMPLETED] eslint\n[FAILED] prettier --write [FAILED]\nhusky - pre-commit script failed (code 1)')
      ?.cause,
  ).toBeUndefined();
  expect(hooksOf(commit, '[COMPLETED] prettier --write\n[main 1a2b3c4] x')).toBeUndefined();
  expect(hooksOf({ command: 'git commit --no-verify -m x' }, '$ bun test')).toBeUndefined();
});
