import { shellAnswer } from '../detect/calls/shell-answer.ts';
import { SAYS_FAILED } from './check-output.ts';

const MAX_LINE_CHARS = 160;
const MAX_CHARS = 20_000;

/** How checks say what is wrong; the groups are the text. What a test expected goes before what a compiler or linter found. */
const FAILURES: readonly RegExp[] = [
  // pytest, unittest, Vitest, Jest, Mocha, Playwright, Bun, Node, Go, Rust, Pester
  /^FAILED \S+?\.py::(\S.*)$/m,
  /^E +((?:[\w.]*\.)?\w*(?:Error|Exception)\b.*)$/m,
  /^(?:FAIL|ERROR): (\S+) \(.*\)\n-+\n(?:.*\n)*?(\w*(?:Error|Exception)\b.*)$/m,
  /^ *FAIL +(?:\|[^|\n]+\| +)?(?:\S+ > )?(.+?)(?: \[.*\])?\n\s*(\w*Error\b.*)$/m,
  /^ +● (.+)\n\s*\n +expect\(.*\n\s*\n +(Expected.*)\n +(Received.*)$/m,
  /^ +● (.+)\n\s*\n +(\S.*)$/m,
  /^ +1\) \S.*\n +(\S.*):\n\s*\n? *(\S.*)$/m,
  /^ +1\) (?:\[\w+\] › )?(.+?)[ ─]*\n\s*\n +(\S*Error\b.*)$/m,
  /^error: (.+)\n(?:.*\n){0,12}?\(fail\) (.+?)(?: \[.*\])?$/m,
  /^✖ failing tests:\s+test at \S+\n✖ (.+?)(?: \([\d.]+m?s\))?\n +(\S.*)$/m,
  /^not ok \d+ - (\S.*)$/m,
  /^ *--- FAIL: (\S+) \([\d.]+s\)\n +(\S+\.go:\d+: .+)$/m,
  /^ +(\S+_test\.go:\d+: .+)\n(?:.+\n)?--- FAIL: (\S+)/m,
  /^---- (\S+) stdout ----\n(?:.*\n)?thread .* panicked at .*\n(\S.*)$/m,
  /^ *\[-\] (.+?)(?: [\d.]+m?s\b.*)?\n +(\S.+)$/m,
  // compilers, linters and formatters
  /^(\S.*: error TS\d+: .+|\S+ - error TS\d+: .+)$/m,
  /^error(?:\[E\d+\])?: (?!could not compile|aborting|script )(.+)\n +--> .+$/m,
  /^([A-Z]+\d+ .+)\n +--> (.+)$/m,
  /^\S+:\d+:\d+ \S+ ━+\n\s*\n\s+× (.+)$/m,
  /^((?:vet(?:\.exe)?: )?(?:[A-Z]:\\.*?|[^\s:]+)\.\w+:\d+(?::\d+)?: .+)$/m,
  /^ *(\d+:\d+ +error +\S.*?)(?: {2,}\S+)?$/m,
  /^ *((?:error|warning) • .+|\[warn\] (?!Code style)\S+)$/m,
  /\blevel=error msg="(.+)"$/m,
  // a test without a message, a count, a program that could not go on
  /^\(fail\) (.+?)(?: \[.*\])?$/m,
  /^ *([1-9]\d* fail(?:ed|ing|ures?)?\b.*)$/m,
  /^(error: (?!could not compile|aborting|script ).+)$/m,
  /^((?:[\w-]+: )?(?:line )?(?:\d+: )?(?:\S+: (?:command )?not found|command not found: \S+|no such file or directory: .+)|.+\bno such directory\b.*)$/m,
  /^(?:\S+ )?((?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$/m,
];

/** Returns the words with which a check says why it failed: the test and its message, the first error, else the line that says that it failed. */
export function failureLine(result: string): string | undefined {
  const text = (shellAnswer(result)?.text ?? result).slice(0, MAX_CHARS);
  const found = FAILURES.map((pattern) => pattern.exec(text)).find((match) => match !== null);
  const line = found?.slice(1).join(': ') ?? text.split('\n').find((one) => SAYS_FAILED.test(one.trim()));
  return line?.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_LINE_CHARS).toWellFormed();
}
