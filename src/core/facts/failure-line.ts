import { printableCut, withoutTerminalSequences } from '../base/printable.ts';
import { openAnswer, shellAnswer } from '../detect/calls/shell-answer.ts';
import { SAYS_FAILED } from './check-output.ts';

/** Paths in a message are long, and short only where they are shown. */
const MAX_CHARS = 500;
const MAX_PLACE_CHARS = 80;
const MAX_READ_CHARS = 20_000;

/**
 * How checks say what is wrong. Named groups: `what` is the message, `lint` the message of a linter, `at` the place or the test, `test` a
 * test that has no message. Unnamed groups are joined to one message. Patterns of test runners stand before those of compilers and linters.
 */
const FAILURES: readonly RegExp[] = [
  // pytest, unittest, Vitest, Jest, Mocha, Playwright, Bun, Node, Go, Rust, Pester
  /^FAILED \S+?\.py::(?<at>\S+) - (?<what>(?!.*\.\.\.$).+)$/m,
  /^E +(?<what>(?:(?:[\w.]*\.)?\w*(?:Error|Exception)\b|assert ).*)$(?:[^]*?^FAILED \S+?\.py::(?<at>\S+))?/m,
  /^(?:FAIL|ERROR): (?<at>\S+) \(.*\)\n-+\n(?:.*\n)*?(?<what>\w*(?:Error|Exception)\b.*)$/m,
  /^ *FAIL +(?:\|[^|\n]+\| +)?(?:\S+ > )?(?<at>.+?)(?: \[.*\])?\n\s*(?<what>\w*Error\b.*)$/m,
  /^ +● Test suite failed to run\n\s*\n +(?<what>\S.*)$/m,
  /^ +● .+\n\s*\n +expect\(.*\n\s*\n +(Expected.*)\n +(Received.*)$/m,
  /^ +● (?<at>.+)\n\s*\n +(?<what>\S.*)$/m,
  /^ +1\) test (?<at>.+) \([\w.]+\)\n +\S+:\d+\n +(?<what>\S.*)$/m,
  /^ +1\) \S.*\n +(?<at>\S.*):\n\s*\n? *(?<what>\S.*)$/m,
  /^ +1\) (?:\[\w+\] › )?(?<at>.+?)[ ─]*\n\s*\n +(?<what>\S*Error\b.*)$/m,
  /^error: (?<what>.+)\n(?:.*\n){0,12}?\(fail\) (?<at>.+?)(?: \[.*\])?$/m,
  /^✖ failing tests:\s+test at \S+\n✖ (?<at>.+?)(?: \([\d.]+m?s\))?\n +(?<what>(?!'test failed')\S.*)$/m,
  /^ *--- FAIL: (?<at>\S+) \([\d.]+s\)\n +\S+\.go:\d+: (?<what>.+)$/m,
  /^ +\S+_test\.go:\d+: (?<what>.+)\n(?:.+\n)?--- FAIL: (?<at>\S+)/m,
  /^---- (?<at>\S+) stdout ----\n(?:.*\n)?thread .* panicked at .*\n(?<what>\S.*)$/m,
  /^ *\[-\] (?<at>.+?)(?: [\d.]+m?s\b.*)?\n +(?<what>\S.+)$/m,
  // compilers, linters and formatters
  /^(?:(?:.* )?(?<at>\S+?)(?:: | - ))?error TS\d+: (?<what>.+)$/m,
  /^\d{13} ERROR "(?<at>[^"]+)" \d+:\d+ "(?<what>.+?)(?:\\n|"$)/m,
  /^error(?:\[E\d+\])?: (?<what>(?!could not compile|aborting|script ).+)\n +--> (?<at>.+)$/m,
  /^[A-Z]+\d+ (?:\[\*\] )?(?<lint>.+)\n +--> (?<at>.+)$/m,
  /^(?<at>\S+:\d+:\d+) \S+ ━+\n\s*\n\s+× (?<lint>.+)$/m,
  /^(?:vet(?:\.exe)?: )?(?<at>(?:[A-Z]:\\.*?|[^\s:]+)\.\w+:\d+(?::\d+)?): (?<what>.+)$/m,
  /^ *\d+:\d+ +[Ee]rror:? +(?<lint>\S.*?)(?: {2,}\S+)?$/m,
  /^[ ┃]*\[[A-Z]\] [↑↗→↘↓] (?<lint>.+)$/m,
  /^ *(?:error|warning) • (?<lint>.+?) • (?<at>\S+) • \S+$/m,
  /^\[warn\] (?<at>(?!Code style)\S+)$[^]*?^\[warn\] (?<what>Code style issues)/m,
  /\blevel=error msg="(?<what>.+)"$/m,
  /^\s*[✗✘] (?<what>\S.+)$/m,
  /^\*\* \(\w+\) (?<what>.+?)(?:\. Did you mean:)?$/m,
  // a test without a message, a count, a program that could not go on
  /^\(fail\) (?<test>.+?)(?: \[.*\])?$/m,
  /^not ok \d+ - (?<test>\S.*)$/m,
  /^FAILED \S+?\.py::(?<test>\S+)/m,
  /^ *--- FAIL: (?<test>\S+) \([\d.]+s\)$/m,
  /^ *FAIL:?[ \t]+(?:.+ > )?(?<test>\S.*?)(?: \[build failed\]|\s[\d.]+s)?:?$/m,
  /^ *Tests?:? +([1-9]\d* failed)(?:(?: \||,) (\d+ passed))?/m,
  /^ *([1-9]\d* failed)$[^]*^ *(\d+ passed)\b/m,
  /^[ =]*(?<what>[1-9]\d* (?:fail(?:ed|ing|ures?)?|errors?)\b.*?)[ =]*$/m,
  /^error: (?<what>(?!could not compile|aborting|script ).+)$/m,
  /^((?:[\w-]+: )?(?:line )?(?:\d+: )?(?:\S+: (?:command )?not found|command not found: \S+|no such file or directory: .+)|.+\bno such directory\b.*)$/m,
  /^(?:\S+ )?((?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$/m,
  // what Gradle says, and what is before the words of `make`
  /^\* What went wrong:\n(?<what>.+)$/m,
  /^(?!make)(?<what>.+)\nmake(?:\[\d+\])?: \*\*\* /m,
];

/** Lines that say only that something failed. */
const NO_CAUSE =
  /^(?:make\b|\W*ELIFECYCLE\b|(?:FAILURE: )?Build failed|Failed to compile|npm err|failed in sandbox\b|Failed tasks:|(?:error: )?(?:script|command) .*(?:code|status))/i;
/** What precedes a message: its severity, its class if that says no more, the code of its rule. */
const BEFORE_MESSAGE =
  /^(?:Assertion ?Error|Error|Uncaught Error)(?: \[\w+\])?: |^(?:fatal )?error: |^\S+ - error TS\d+: |^(?:error|warning) \S+\(\S+\): |^[A-Z]{1,4}\d{2,} /;

/** Returns what is wrong according to the output of a failed check: its message, then its place or its test. */
export function failureLine(result: string): string | undefined {
  const { result: opened } = openAnswer(result);
  const printed = shellAnswer(opened)?.text ?? (typeof opened === 'string' ? opened : result);
  const text = withoutTerminalSequences(printed.slice(0, MAX_READ_CHARS)).replaceAll(/\[\d+(?:;\d+)*[A-GJKm]/g, '');
  const match = FAILURES.map((pattern) => pattern.exec(text)).find((found) => found !== null);
  if (match === undefined) {
    const lines = text.split('\n').map((line) => line.trim());
    const line = lines.find((one) => SAYS_FAILED.test(one) && !NO_CAUSE.test(one));
    return line === undefined ? undefined : shortened(line);
  }
  const { at, lint, test, what = lint ?? match.slice(1).filter(Boolean).join(', ') } = match.groups ?? {};
  if (test !== undefined) return shortened(`failed: ${test}`);
  const [next = ''] = text
    .slice(match.index + match[0].length)
    .trimStart()
    .split('\n');
  const more = /^[+-] /.test(next) ? '' : `: ${next}`;
  const message = what.replaceAll('\\"', '"').trim().replace(BEFORE_MESSAGE, '').replace(/:$/, more).replace(/\.$/, '');
  return `${lint === undefined ? '' : 'lint: '}${shortened(message)}${at === undefined ? '' : ` in ${shortened(at, MAX_PLACE_CHARS)}`}`;
}

function shortened(text: string, chars = MAX_CHARS): string {
  return printableCut(text.replaceAll(/\s+/g, ' ').trim(), chars);
}
