/**
 * Finds wording that engineers have to read twice: archaic words, sentences that begin with a free relative ("What a
 * call costs is…"), and names of values that are bare participles. Looks at every tracked source, test and document,
 * except the labelled cases, the seeds' normative texts and the decision notes of the past.
 *
 *   npx node scripts/check-wording.ts [PATH…] [--count]
 *
 * Prints one line for each place, with what to write instead, and exits with 1 if there is any. `--count` prints the number
 * of places per rule instead.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface WordingRule {
  readonly id: string;
  readonly find: RegExp;
  readonly instead: string;
  /** Only in TypeScript. */
  readonly code?: boolean;
}

const RULES: readonly WordingRule[] = [
  { id: 'anew', find: /\banew\b/i, instead: '"again", "from the start"' },
  { id: 'told-of', find: /\b(told|tells?|telling) of\b/i, instead: '"is notified of", "reports", "describes"' },
  { id: 'says-of', find: /\b(says?|said) of\b/i, instead: '"reports about", "describes"' },
  {
    id: 'is-none',
    find: /(?<!there )\b(is|are|was|were|be) none\b/i,
    instead: 'say what it is: "is not a call", "there is no…"',
  },
  { id: 'of-its-own', find: /\bof (its|their|his|one's) own\b/i, instead: '"its own X", "a separate X"' },
  { id: 'nobody', find: /\b(nobody|whoever|whomever|whosever)\b/i, instead: '"no one", "anyone who", or name who' },
  {
    id: 'archaic',
    find: /\b(seldom|foretold|heed(s|ed)?|lately|thereof|therein|whence|upon|till|save for)\b/i,
    instead: '"rarely", "recently", "until", "on"',
  },
  { id: 'is-over', find: /\b(is|are|was) over(?! \d| the| a)\b/i, instead: '"has ended"' },
  { id: 'mend', find: /\bmend(s|ed|ing)?\b/i, instead: '"fix", "repair"' },
  { id: 'to-whom', find: /\b(to|from|of|by|for) whom\b/i, instead: 'name who it is' },
  { id: 'the-like', find: /\band the like\b/i, instead: '"and similar X", or list them' },
  {
    id: 'free-relative',
    find: /(?:^\s*(?:\/?\*+|\/\/|[-*|] )\s*|[.;] )(What|Who|Whom|Whose) (?![^.]*\?)[a-z'’ ]/,
    instead: 'begin with the noun: "The text that…", "A caller that…"',
  },
  {
    id: 'participle-name',
    find: /\b(?:const|let|readonly|function) (told|said|came|given|heed|spoken|gone|meant|heard|put|asked|kept|held|taken)\b/,
    instead: 'a noun that says what it holds: "advice", "previousCalls", "deliveredAt"',
    code: true,
  },
];

const SKIPPED = /^(test\/cases\/|docs\/decisions\/|CHANGELOG|scripts\/check-wording\.ts|.*\.seed\.test\.ts$)/;
/** Names in snapshots, in `--json` and in the system's own files, and the marker of snippets in the docs. */
const KEPT =
  /readonly (?:said: (?:Stored|number)|told: ArmFigures|asked: keyof|given\?: string)|users\.get\('nobody'\)|megabyte of its own prefix/;
const READ = /\.(tsx?|mjs|md|css)$/;

const paths = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const files = execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  .split('\n')
  .filter((file) => READ.test(file) && !SKIPPED.test(file));

const counts = new Map<string, number>(RULES.map(({ id }) => [id, 0]));
const places: string[] = [];
for (const file of files) {
  readFileSync(file, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      for (const rule of RULES) {
        // The word list in AGENTS.md quotes what to avoid.
        if (file.endsWith('.md') && (rule.code === true || line.startsWith('| "'))) continue;
        const match = rule.find.exec(line);
        if (match === null || KEPT.test(line)) continue;
        counts.set(rule.id, (counts.get(rule.id) ?? 0) + 1);
        places.push(`${file}:${index + 1}  "${match[0].trim()}": ${rule.instead}`);
      }
    });
}
if (process.argv.includes('--count')) {
  for (const [id, count] of counts) console.log(`${String(count).padStart(6)}  ${id}`);
} else for (const place of places) console.log(place);
console.log(`${places.length} places in ${files.length} files`);
process.exitCode = places.length === 0 ? 0 : 1;
