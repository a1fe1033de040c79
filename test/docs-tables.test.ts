import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HOST_DRIVERS } from '../integration/hosts/host-drivers.ts';
import { HOOK_EVENTS } from '../src/adapters/claude/read-hook-input.ts';
import { COMMANDS } from '../src/cli/main.ts';
import { hostTitle } from '../src/formats/find-sessions.ts';
import { HOSTS } from '../src/hosts/dialects/hook-dialect.ts';
import { INPUT_FAULTS } from '../src/core/base/input-fault.ts';
import { VALUE_LIMITS } from '../src/core/base/to-json.ts';
import { MAX_NAME_CHARS } from '../src/core/records/short-names.ts';
import { detectionPage, patternPages } from '../scripts/pattern-pages.ts';
import { wordTables } from '../scripts/words-page.ts';
import { aboutKind } from '../scripts/record-schema.ts';
import { WORDS } from '../src/core/records/words.ts';
import { KINDS } from '../src/core/records/kinds.ts';
import { DETECTORS } from '../src/core/detect/detectors/default-detectors.ts';
import { CHOICES } from '../src/core/records/shapes.ts';
import type { TrajectoryPattern } from '../src/core/records/trajectory-pattern.ts';
import {
  afterCompaction,
  deadlineFeedback,
  contextFeedback,
  limitAhead,
  paceFeedback,
} from '../src/core/steering/feedback/built-in-feedback.ts';
import {
  driftFeedback,
  errorCascadeFeedback,
  stallFeedback,
  patternFeedback,
  CLASS_WORDS,
  FACT_REMEDIES,
  patternSentences,
} from '../src/core/steering/feedback/pattern-feedback.ts';
import {
  doomLoopGuidance,
  consultationPrompt,
  diagnosticSignal,
  parallelToolReminder,
} from '../src/core/steering/guidance/built-in-guidance.ts';
import type { FeedbackProvider, FeedbackTrigger } from '../src/core/steering/prompt/feedback-provider.ts';
import type { GuidanceProvider } from '../src/core/steering/prompt/guidance-provider.ts';
import { MAX_LATER_EVENTS } from '../src/core/run/run-path.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { guidanceContext } from './support/guidance-script.ts';

/** The rows of the first table of a page whose head begins so; a cell without its backticks where it is all code. */
function tableOf(page: string, head: string): readonly (readonly string[])[] {
  const lines = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  if (start < 0) throw new Error(`${page} has no table whose head begins with "${head}"`);
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')),
  );
}

function codes(cell: string | undefined): readonly string[] {
  return cell === undefined
    ? []
    : cell.includes('`')
      ? [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
      : [cell];
}

/** A trigger as one writes it. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${members(value)} }`;
}

function members(value: object): string {
  return Object.entries(value)
    .map(([key, member]) => `${key}: ${literal(member)}`)
    .join(', ');
}

function triggerText(trigger: FeedbackTrigger | undefined): string {
  return trigger === undefined ? 'none' : members(trigger);
}

const threeErrors = guidanceContext({ calls: [{ failed: true }, { failed: true }, { failed: true }] });

test('the list of detectors has their docstrings (npx node scripts/pattern-pages.ts writes it), and no cell of a pattern is long', () => {
  const detection = detectionPage();
  expect(readFileSync(new URL('../docs/detection.md', import.meta.url), 'utf8')).toBe(detection);
  for (const text of [detection.slice(detection.indexOf('## Patterns: stuck')), ...patternPages().values()]) {
    const cells = text.split('\n').flatMap((line) => (line.startsWith('|') ? line.split(/(?<!\\)\|/) : []));
    expect(cells.filter((cell) => cell.length > 300)).toEqual([]);
  }
});

test('the standard steering’s page names its feedback providers and triggers, in order', () => {
  const rows = tableOf('standard-steering.md', 'provider | trigger | level');
  expect(rows.map(([name, trigger]) => [name, trigger])).toEqual(
    standardSteering().feedback?.map(({ provider, trigger }) => [
      provider.name,
      triggerText(trigger ?? provider.defaultTrigger),
    ]),
  );
});

test('the standard steering’s page states how rare its advice is', () => {
  const rows = new Map(tableOf('standard-steering.md', 'option | value').map(([name, value]) => [name, value]));
  const { delivery, cadence, noise, guidance } = standardSteering();
  expect([rows.get('delivery'), rows.get('cadence')]).toEqual([delivery, cadence]);
  expect(rows.get('noise')).toBe(literal(noise));
  expect(guidance).toEqual([]);
});

test('the guidance page has the names, keys, points and texts of the built-in providers', () => {
  const builtIn: Readonly<Record<string, GuidanceProvider>> = {
    doomLoopGuidance: doomLoopGuidance(),
    diagnosticSignal: diagnosticSignal(),
    consultationPrompt: consultationPrompt(),
    parallelToolReminder: parallelToolReminder(),
  };
  const expected = Object.entries(builtIn).map(([called, provider]) => {
    const draft = provider.provide(threeErrors);
    const row = [called, provider.name, draft?.key, provider.category, String(draft?.priority)];
    return row.concat(provider.decisionPoints ?? []);
  });
  const rows = tableOf('guidance.md', 'function | name | key');
  expect(rows.map((row) => row.slice(0, 5).concat(codes(row[5])))).toEqual(expected);
  const texts = tableOf('guidance.md', 'name | classifier | options (default)');
  expect(texts.map((row) => [row[0], row[3]])).toEqual(
    Object.values(builtIn).map((provider) => [provider.name, provider.provide(threeErrors)?.content]),
  );
});

test('the feedback page has the names and default triggers of the built-in providers', () => {
  const builtIn: Readonly<Record<string, FeedbackProvider>> = {
    deadlineFeedback: deadlineFeedback(),
    paceFeedback: paceFeedback(),
    contextFeedback: contextFeedback(),
    afterCompaction: afterCompaction(),
    limitAhead: limitAhead(),
    patternFeedback: patternFeedback(),
    stallFeedback: stallFeedback(),
    errorCascadeFeedback: errorCascadeFeedback(),
    driftFeedback: driftFeedback(),
  };
  const rows = tableOf('feedback.md', 'function | name | default trigger').filter(([called]) =>
    Object.hasOwn(builtIn, called ?? ''),
  );
  expect(
    rows.map(([called, name, trigger]) => [called, name, trigger?.replace(/\blevel }$/, "level: 'warn' }")]),
  ).toEqual(
    Object.entries(builtIn).map(([called, provider]) => [called, provider.name, triggerText(provider.defaultTrigger)]),
  );
});

test('the page on Claude Code says what each of its events does', () => {
  const events = tableOf('claude-code.md', 'event | effect').flatMap(([cell = '']) => cell.match(/\w+/g) ?? []);
  expect(events.toSorted()).toEqual(Object.keys(HOOK_EVENTS).toSorted());
});

test('the page of doctor names each check as the terminal does', () => {
  const cells = tableOf('doctor.md', 'check | passes when').map(([cell = '']) => cell);
  for (const [check, words] of Object.entries(WORDS.check))
    expect(cells.filter((cell) => cell.includes(`${words} (\`${check}\`)`))).toHaveLength(1);
});

test('every built-in pattern has its words in src/core/records/pattern-words.ts', () => {
  const nameless = Object.keys(DETECTORS).filter((kind) => !Object.hasOwn(WORDS.pattern, kind));
  expect(nameless).toEqual([]);
});

test('the feedback page has the way out for each answer and cause, to the letter', () => {
  const rows = tableOf('feedback.md', 'the calls came back with | in the text | way out');
  expect(rows.map(([cell]) => cell)).toEqual([...CHOICES.answer_class]);
  for (const [cell, name, wayOut] of rows) {
    const answer = CHOICES.answer_class.find((one) => one === cell);
    const pattern: TrajectoryPattern = {
      kind: 'identical_call',
      identity: 'identical_call',
      stuck: true,
      level: 'warn',
      confidence: 0.75,
      tool: 'bash',
      ...(answer === undefined ? {} : { answer }),
      evidence: [0],
      firstSeen: 0,
      flaggedAt: 0,
      occurrences: 5,
    };
    const [said] = patternSentences(pattern).suggestions;
    expect([cell, name, codes(wayOut)]).toEqual([cell, answer && CLASS_WORDS[answer].name, [said]]);
  }
});

test('the feedback page has the way out for each fact about a call, to the letter', () => {
  const rows = tableOf('feedback.md', 'fact | when | way out');
  expect(rows.map(([fact, , wayOut]) => [fact, codes(wayOut)])).toEqual(
    Object.entries(FACT_REMEDIES).map(([fact, remedy]) => [fact, [remedy]]),
  );
});

test('the feedback page has what is said about each kind of pattern, to the letter', () => {
  for (const [cell = '', summary, suggestions] of tableOf('feedback.md', 'kind | summary')) {
    const kind = cell === 'a kind of your own' ? 'my_kind' : cell;
    const pattern: TrajectoryPattern = {
      kind,
      identity: kind,
      stuck: true,
      level: 'warn',
      confidence: 0.75,
      tool: 'bash',
      answer: 'other',
      evidence: [3, 4, 5, 6, 7],
      firstSeen: 3,
      flaggedAt: 0,
      occurrences: 5,
    };
    const sentences = patternSentences(pattern, { tool: 'bash' });
    expect({ kind, summary, suggestions: codes(suggestions) }).toEqual({
      kind,
      summary: sentences.summary,
      suggestions: sentences.suggestions,
    });
  }
});

test('the faults of input and the limits of an event stand in the documents as they are', () => {
  expect(tableOf('recording.md', 'fault').map(([fault]) => fault)).toEqual([...INPUT_FAULTS]);
  const written = tableOf('recording.md', 'limit of one event').map(([, value]) => Number(value?.replaceAll(',', '')));
  const { nodes, depth, textChars, chars } = VALUE_LIMITS;
  expect(written).toEqual([nodes, depth, textChars, chars, MAX_NAME_CHARS]);
  const [, when] = tableOf('recording.md', 'fault').find(([fault]) => fault === 'crowded') ?? [];
  expect(when).toContain(MAX_LATER_EVENTS.toLocaleString('en'));
});

/** Every command by its name, such as `config check`, with the options that it takes. */
function commandOptions(): ReadonlyMap<string, readonly string[]> {
  const entries = COMMANDS.flatMap(({ name, options, commands }) =>
    commands === undefined
      ? [{ name, options }]
      : commands.map((inner) => ({ name: `${name} ${inner.name}`, options: inner.options })),
  );
  return new Map(
    entries.map(({ name, options = {} }) => [
      name,
      ['--help', ...Object.keys(options).flatMap((flags) => flags.split(' ')[0] ?? [])],
    ]),
  );
}

/** The command that a command line in a document starts. */
function commandIn(line: string, commands: Iterable<string>): string | undefined {
  const words = line.replace(/^coxswain /, '');
  return [...commands].find((name) => words === name || words.startsWith(`${name} `));
}

test('the table of commands in docs/commands.md has a row for every command and for no other, and names only their options', async () => {
  const options = commandOptions();
  const named: (string | undefined)[] = [];
  const unknown: string[] = [];
  for (const [cell = '', text = ''] of tableOf('commands.md', 'command')) {
    const inCell = (cell.includes('`') ? codes(cell) : [cell]).map((code) => commandIn(code, options.keys()));
    named.push(...inCell);
    const known = new Set(inCell.flatMap((name) => options.get(name ?? '') ?? []));
    for (const [option] of text.matchAll(/(?<=`(?:\w+ )?)--[a-z-]+/g)) {
      if (!known.has(option)) unknown.push(`${cell}: ${option}`);
    }
  }
  expect(new Set(named)).toEqual(new Set(options.keys()));
  expect(unknown).toEqual([]);
});

test('every command line in README and docs starts a command that exists, with options that it takes', async () => {
  const options = commandOptions();
  const docs = new URL('../docs/', import.meta.url);
  const pages = [...readdirSync(docs).filter((name) => name.endsWith('.md')), '../README.md'];
  const wrong: string[] = [];
  let lines = 0;
  for (const page of pages) {
    const text = readFileSync(new URL(page, docs), 'utf8');
    for (const [line] of text.matchAll(/(?<=^(?:\$ |npx )?|`|npx |\| )coxswain (?:config )?[a-z]+\b[^`\n|#>;&]*/gm)) {
      lines += 1;
      const name = commandIn(line.trim(), options.keys());
      const known = options.get(name ?? '');
      if (known === undefined) wrong.push(`${page}: ${line}`);
      else
        for (const [flag] of line.matchAll(/--[a-z][a-z0-9-]*/g))
          if (!known.includes(flag)) wrong.push(`${page}: ${line}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(lines).toBeGreaterThan(50);
});

test('docs/recording.md has every kind of record with its role and what it says', () => {
  expect(tableOf('recording.md', '`kind` | role | what it says')).toEqual(
    Object.entries(KINDS).map(([kind, { role }]) => [kind, role, aboutKind(kind)]),
  );
});

test('the page of words has every word, and nothing that people read shows a figure of a detector or a stump', () => {
  const words = wordTables();
  for (const rows of Object.values(WORDS)) {
    for (const [id, text] of Object.entries(rows)) expect(words).toContain(`| \`${id}\` | ${text} |`);
  }
  const cli = fileURLToPath(new URL('../src/cli/', import.meta.url));
  const texts = [
    words,
    ...globSync('**/*.ts', { cwd: cli, exclude: ['**/*.test.ts'] }).map((file) =>
      readFileSync(join(cli, file), 'utf8'),
    ),
  ];
  for (const text of texts) {
    expect(text).not.toMatch(/confidence (?:\$\{|\d)|never left|\d below\b/);
  }
});

test('the table of the hosts names the versions of the tests with the real programs', () => {
  expect(tableOf('hosts.md', 'host | tested with').map((row) => row.slice(0, 2))).toEqual(
    HOSTS.map((host) => [`[${hostTitle(host)}](${pageOfHost(host)})`, HOST_DRIVERS[host].version]),
  );
});

test.each(HOSTS)('the page of %s has what the tests with the real program check', (host) => {
  const { advice, hasTokens } = HOST_DRIVERS[host];
  const rows = tableOf(pageOfHost(host), 'when | what the model sees').map(([when = '', , fate]) => [when, fate]);
  expect(Object.fromEntries(rows)).toMatchObject({
    'at a prompt': advice.atPrompt,
    'after a call': advice.onCall,
    'after a failed call of another tool than the shell': advice.onFailure,
    'at a stop': advice.atStop,
  });
  const page = readFileSync(new URL(`../docs/${pageOfHost(host)}`, import.meta.url), 'utf8');
  expect(page.includes('okens and cost are not recorded')).toBe(!hasTokens);
});

test.each(['hosts.md', 'claude-code.md'])('%s has how coxswain is turned off', (page) => {
  const waysOut = tableOf(page, 'to turn off').map(([, way]) => way ?? '');
  expect(waysOut[0]).toMatch(/COXSWAIN_DISABLE=1 \w+ /);
  expect(waysOut[1]).toMatch(/coxswain init .*--undo/);
});

function pageOfHost(host: (typeof HOSTS)[number]): string {
  return host === 'claude-code' ? 'claude-code.md' : `hosts/${host}.md`;
}
