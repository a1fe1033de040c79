import type { CheckCommand } from './check-command.ts';

/** Returns true if both commands name files or folders, and none in common. */
export function namesOthers(command: string, before: string): boolean {
  const [own, others] = [targetsOf(command), targetsOf(before)];
  return own.length > 0 && others.length > 0 && !own.some((name) => others.some((other) => isSamePath(name, other)));
}

function targetsOf(command: string): readonly string[] {
  // A quoted text of several words is the name of a test.
  const paths = command.replaceAll(/"[^"]*\s[^"]*"|'[^']*\s[^']*'|["']/g, '').replaceAll('\\', '/');
  return paths.split(/\s+/).flatMap((word) => (TARGET.test(word) && !NO_TARGET.test(word) ? [pathOf(word)] : []));
}

const TARGET = /^(?:src|tests|packages|lib|apps?|[\w@./:[\]-]*[/.][\w@./:[\]-]*)$/;
/** The last form is a package: `npx @biomejs/biome`. */
const NO_TARGET = /^(?:-|\/tmp\/|\/\/)|:\/\/|^@[\w-]+\/[\w-]+(?:@\S+)?$/;

/** A test in a file, as `a.py::test_x` or `a.spec.ts:12`, is a part of its path. */
function pathOf(target: string): string {
  const path = target.replace(/^\.\//, '').replace(/\/(?:\.\.\.)?$/, '');
  return path.replaceAll(/::?/g, '/').replace(/(?<=\.py\/.*)\[.*$/, '');
}

/** The path of a file may begin in another folder of the project. */
function isSamePath(one: string, other: string): boolean {
  if (one === other) return true;
  return FILE.test(one) && FILE.test(other) && (one.endsWith(`/${other}`) || other.endsWith(`/${one}`));
}

const FILE = /\.\w+(?:\/\w+)*$/;

/** Returns true if the target is one of the others, or in one of them. */
function isIn(target: string, others: readonly string[]): boolean {
  return others.some((one) => isSamePath(target, one) || target.startsWith(`${one}/`));
}

/** Returns true if every file or folder of the other command is in one of this one. */
function containsTargets(command: string, other: string): boolean {
  const [own, others] = [targetsOf(command), targetsOf(other)];
  return others.length > 0 && others.every((name) => isIn(name, own));
}

/** Returns true if the check runs all tests of the file. */
export function namesFile({ command, names }: CheckCommand, file: string): boolean {
  return names === undefined && isIn(pathOf(file), targetsOf(command));
}

/** Returns true if the first check covers the other and more. */
export function isMore(check: CheckCommand, other: CheckCommand): boolean {
  if (check.isWide) return true;
  const selects = check.names === undefined && other.names !== undefined;
  return containsTargets(check.command, other.command) && (selects || !containsTargets(other.command, check.command));
}

/** Returns true if both checks select tests by name, and the first one leaves out what the other one selects. */
export function selectsOthers({ names = '' }: CheckCommand, { names: others = '' }: CheckCommand): boolean {
  return names !== '' && others !== '' && !others.startsWith(names);
}

export function covers(check: CheckCommand, other: CheckCommand): boolean {
  const { command, isWide, key, names, purpose } = other;
  if (!isOfFolder(check, other)) return false;
  if (other.program === undefined && isPart(check.key) && taskName(check.key) !== taskName(key)) return false;
  if (other.tags !== undefined && other.tags !== check.tags && check.key.startsWith('go ')) return false;
  const isSame = purpose === check.purpose && isOfProgram(check, other);
  // Tests of a compiled language compile it first, as does what reads its types.
  const compiles =
    (check.purpose === 'test' && compilesFor(check, key)) ||
    (/^(?:go vet|cargo check)\b/.test(check.key) && /^(?:go|cargo) build\b/.test(key));
  if (check.isWide) return isSame || compiles || (check.purpose === 'all' && purpose !== 'task' && purpose !== 'hooks');
  // A target of a Go project runs the folder of its suite.
  if (isSame && isWide && check.isSuite === true && other.program === undefined && check.program === 'go test')
    return purpose === 'integration';
  if ((!isSame && !compiles) || isWide) return false;
  if (check.names === undefined && containsTargets(check.command, command)) return true;
  if (names === undefined || names === '') return false;
  return check.names === undefined ? check.isSuite === true : check.names !== '' && names.startsWith(check.names);
}

const COMPILES =
  /^(?:(?:go|cargo) (?:build|check|vet)|(?:dotnet|swift) build|(?:mvnw?|gradlew?) (?:test-?)?compile\w*|mix compile)$/;

function compilesFor({ command, key: ownKey }: CheckCommand, key: string): boolean {
  const isOwn = firstWord(ownKey) === firstWord(key) || /^(?:go|cargo)\b/.test(key);
  return isOwn && COMPILES.test(key) && !/--no-build\b/.test(command);
}

function firstWord(key: string): string {
  return key.split(' ', 1)[0] ?? '';
}

/** Returns true if the check ran in the folder of the other one, or around it, as far as both are known. */
export function isOfFolder({ place: own }: CheckCommand, { place: other }: CheckCommand): boolean {
  return own === undefined || other === undefined || isSamePlace(own, other);
}

/** Returns true unless the place is in the other one, or beside it. Of a path that is not whole, the folder around it is not known. */
export function isSamePlace(place: string, other: string): boolean {
  if (place === other || /worktree/i.test(`${place} ${other}`)) return true;
  if (place.endsWith(`/${other}`) || other.endsWith(`/${place}`) || other.startsWith(`${place}/`)) return true;
  return place.startsWith('/') && !other.startsWith('/');
}

/** The folder in which a line is after its `cd`s, from the one in which it begins, if that is known. Undefined if it cannot be told. */
export function folderAfter(line: string, workdir: string | undefined): string | undefined {
  let folder = workdir;
  const outer: (string | undefined)[] = [];
  for (const [text, ...targets] of line.matchAll(/[()]|\bcd (?:"([^"]*)"|'([^']*)'|([^\s;&|()]+))/g)) {
    const target = targets.find((found) => found !== undefined)?.replaceAll('\\', '/');
    if (text === '(') outer.push(folder);
    else if (text === ')') folder = outer.length === 0 ? folder : outer.pop();
    else folder = target === undefined || /^[-~]|[$`*]/.test(target) ? undefined : joined(folder, target);
  }
  return folder;
}

function joined(folder = '', target: string): string | undefined {
  const isWhole = /^(?:[A-Za-z]:)?\//.test(target);
  const path = isWhole ? target.replace(/^([A-Za-z]):/, '/$1') : `${folder}/${target}`;
  const parts: string[] = [];
  for (const part of path.split('/'))
    if (part !== '..') parts.push(...(part === '' || part === '.' ? [] : [part]));
    else if (parts.pop() === undefined) return undefined;
  return `${path.startsWith('/') && (isWhole || folder !== '') ? '/' : ''}${parts.join('/')}` || undefined;
}

/** The name of a target of the project: `test:unit`. */
function taskName(key: string): string {
  return key.slice(key.lastIndexOf(' ') + 1);
}

/** Returns true for a target that its name says is a part of one: `test:unit`, but not `lint:fix`. */
function isPart(key: string): boolean {
  const [, rest] = taskName(key).split(/:(.*)/, 2);
  return rest !== undefined && !WHOLE.test(rest);
}

/** What may stand in such a name for the whole in another form. */
const WHOLE = /^(?:fix|ci|run|all|once|cov(?:erage)?|prod(?:uction)?|dev|strict|quiet|silent|verbose|no-?\w+)$/;

/** False if another program read other things: `cargo fmt --check` says nothing of `cargo clippy`. A target of the project may run any. */
function isOfProgram({ program: own }: CheckCommand, { program: other }: CheckCommand): boolean {
  if (own === undefined || other === undefined || own === other) return true;
  return ONE_FOR_OTHER.some(([one, others]) => one.test(own) && others.test(other));
}

/** Programs that do what others do too. */
const ONE_FOR_OTHER: readonly (readonly [one: RegExp, others: RegExp])[] = [
  [/^(?:vue-tsc|tsc|tsgo)$/, /^(?:vue-tsc|tsc|tsgo)$/],
  [/^(?:based)?pyright$/, /^(?:based)?pyright$/],
  [/^ruff(?: check)?$/, /^ruff(?: check)?$/],
  [/^(?:biome (?:check|ci)|ultracite (?:check|lint))$/, /^(?:biome|ultracite) /],
  [/^prettier/, /^prettier/],
  [/^golangci-lint$/, /^(?:gofmt -l|go vet|staticcheck|gosec)$/],
  [/^(?:pytest|py\.test)$/, /^(?:py\.?test|unittest)$/],
  [/^flutter (?:test|analyze)$/, /^dart (?:test|analyze)$/],
];
