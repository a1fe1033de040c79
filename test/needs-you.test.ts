import { expect, test } from 'vitest';

import { markStanding } from '../src/cli/runs/run-standing.ts';
import { sectionsOf } from '../src/cli/commands/report/night-sections.ts';
import { defaultDetectors } from '../src/core/detect/detectors/default-detectors.ts';
import { RunFactsFold } from '../src/core/facts/run-facts-fold.ts';
import type { StoredContent } from '../src/core/records/agent-message.ts';
import { PERMISSION_REQUESTED } from '../src/core/records/words.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { listedRow } from '../src/viewer/server/run-list.ts';
import { RunOverviewFold } from '../src/viewer/server/run-overview-fold.ts';
import { scriptRun } from './support/script-records.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const START_MS = Date.UTC(2026, 5, 1);
const NEEDS: ReadonlySet<string | undefined> = new Set(['waiting', 'failed', 'failing', 'stuck', 'refused', 'asks']);

function called(command: string, id = 'c'): TrajectoryPayload {
  return { kind: 'tool_started', tool_call_id: id, tool_name: 'Bash', args: { command } };
}

function answered(result: string, failed = false, id = 'c'): TrajectoryPayload {
  return { kind: 'tool_ended', tool_call_id: id, tool_name: 'Bash', result, is_error: failed };
}

function failing(command: string): readonly TrajectoryPayload[] {
  const calls = Array.from({ length: 6 }, (_, at) => [called(command, `c${at}`), answered('no rule', true, `c${at}`)]);
  return calls.flat();
}

const said: TrajectoryPayload = { kind: 'message_appended', message: { role: 'assistant', content: 'Done.' } };
const ended: TrajectoryPayload = { kind: 'run_ended', outcome: 'ended', reason: 'answered', new_messages: [] };
const asked: TrajectoryPayload = { kind: 'session_event', event_type: PERMISSION_REQUESTED, data: { tool: 'Bash' } };
const limited: TrajectoryPayload = { kind: 'run_ended', outcome: 'error', reason: 'rate_limit', new_messages: [] };
const loop = failing('make');
const tests = [called('npm test'), answered('1 failed, 2 passed', true)];

const refused: TrajectoryPayload = {
  kind: 'tool_ended',
  tool_call_id: 'c',
  tool_name: 'Bash',
  result: 'no',
  is_error: true,
  outcome: 'refused',
};
const asks: TrajectoryPayload = { kind: 'message_appended', message: { role: 'assistant', content: 'Push it?' } };
const announced: TrajectoryPayload = {
  kind: 'message_appended',
  message: { role: 'assistant', content: 'The key is set. Now I will run the tests.' },
};
const interrupted: TrajectoryPayload = {
  kind: 'run_ended',
  outcome: 'interrupted',
  reason: 'interrupted',
  new_messages: [],
};

const RUNS: Readonly<Record<string, readonly TrajectoryPayload[]>> = {
  'in a call': [called('git push')],
  'in a check': [called('npm test')],
  'waits for a permission': [called('git push'), asked],
  'stuck in a loop': loop,
  'stuck in a loop, then answered': [...loop, said, ended],
  'stuck in a loop, then answered without an end': [...loop, said],
  'answered, although a check failed': [...tests, said, ended],
  'answered after a passed check': [called('npm test'), answered('3 passed'), said, ended],
  'answered without a check': [called('ls'), answered('a'), said, ended],
  'answered with a question': [called('ls'), answered('a'), asks, ended],
  'answered after a refused call': [
    called('ls', 'b'),
    answered('a', false, 'b'),
    called('git push'),
    refused,
    said,
    ended,
  ],
  'answered after a refused plan': [
    called('ls', 'a'),
    answered('a', false, 'a'),
    called('ls', 'b'),
    answered('a', false, 'b'),
    { kind: 'tool_started', tool_call_id: 'c', tool_name: 'ExitPlanMode', args: { plan: 'x' } },
    { ...refused, tool_name: 'ExitPlanMode' },
    said,
    ended,
  ],
  'answered after every call failed': [...failing('./deploy.sh'), said, ended],
  'only announced its next step': [called('ls'), answered('a'), announced, ended],
  'only announced its next step, without an end': [called('ls'), answered('a'), announced],
  'answered after a refused question': [
    { kind: 'tool_started', tool_call_id: 'c', tool_name: 'AskUserQuestion', args: { question: 'Which?' } },
    { ...refused, tool_name: 'AskUserQuestion' },
    said,
    ended,
  ],
  'stopped after a refused call': [called('git push'), refused, interrupted],
  'worked, although a call was refused': [
    called('git push'),
    refused,
    called('npm test'),
    answered('3 passed'),
    said,
    ended,
  ],
  'ended by a limit': [called('ls'), answered('a'), limited],
};

test('the terminal and the viewer say the same of how a session stands, and whether it needs its person', () => {
  const differing: unknown[] = [];
  const killed: string[] = [];
  const refusals: unknown[] = [];
  for (const [name, payloads] of Object.entries(RUNS))
    for (const isKilled of [false, true])
      for (const minutes of [1, 12, 45, 500]) {
        const nowMs = START_MS + minutes * 60_000;
        const start: TrajectoryPayload = {
          kind: 'run_started',
          identity: { run_id: ID, depth: 0 },
          host: 'claude-code',
        };
        const facts = new RunFactsFold(ID, { detectors: defaultDetectors() });
        const overview = new RunOverviewFold();
        for (const record of scriptRun(ID, [start, ...payloads], { startMs: START_MS })) {
          facts.fold(record);
          overview.fold(record);
        }
        if (isKilled) markStanding(facts, { open: new Map(), localIds: new Set([ID]) });
        const run = facts.facts(nowMs);
        const [section] = sectionsOf([run]);
        const row = listedRow(overview.counts, overview.extras(), {
          source: '0',
          title: '',
          childCount: 0,
          nowMs,
          isKilled,
        });
        const terminal = [NEEDS.has(section?.name), run.verdict.verdict, run.verdict.evidence];
        const viewer = [row.group === 'needs', row.verdict, row.evidence];
        if (JSON.stringify(terminal) !== JSON.stringify(viewer))
          differing.push({ name, isKilled, minutes, terminal, viewer });
        if (!isKilled && minutes === 12 && /refused|question|every|announced/.test(name))
          refusals.push([name, row.group, row.evidence]);
        if (isKilled && minutes === 12) killed.push(`${name}: ${row.group}, ${row.evidence}`);
      }
  expect(differing).toEqual([]);
  expect(refusals).toEqual([
    ['answered with a question', 'needs', 'it answered; no check that coxswain recognises'],
    [
      'answered after a refused call',
      'needs',
      'it answered; no check that coxswain recognises; its last call (git push) was refused',
    ],
    ['answered after a refused plan', 'done', 'it answered; no check that coxswain recognises'],
    [
      'answered after every call failed',
      'needs',
      'it answered; no check that coxswain recognises; 6 of its 6 calls failed',
    ],
    ['only announced its next step', 'needs', 'cut off, after it announced: Now I will run the tests'],
    ['only announced its next step, without an end', 'needs', 'no answer yet, no record for 11 minutes'],
    [
      'answered after a refused question',
      'needs',
      'it answered; no check that coxswain recognises; its question got no answer',
    ],
    ['stopped after a refused call', 'needs', 'stopped by you, after "git push" was refused'],
    ['worked, although a call was refused', 'done', 'it answered, and its last check (call 2, npm test) passed'],
  ]);
  expect(killed.slice(0, 3)).toEqual([
    'in a call: needs, its process ended with "git push" unfinished',
    'in a check: needs, its process ended with "npm test" unfinished',
    'waits for a permission: needs, its process ended while it waited for permission to use Bash: git push',
  ]);
});

test('sessions that answered with a question are apart, and those that were stuck to their end come first among the rest', () => {
  const content = 'The rates differ: see **tax.py**.\n\nIt needs a decision. **Which rate is right, 19.5 % or 20 %?**';
  const question: TrajectoryPayload = { kind: 'message_appended', message: { role: 'assistant', content } };
  const runs = ['asks', 'stuck', 'fine'].map((id, index) => {
    const fold = new RunFactsFold(id, { detectors: defaultDetectors() });
    const payloads = [called('ls'), answered('a'), ...(id === 'stuck' ? failing('./deploy.sh') : [])];
    const start: TrajectoryPayload = { kind: 'run_started', identity: { run_id: id, depth: 0 }, task: `task ${id}` };
    for (const record of scriptRun(id, [start, ...payloads, id === 'asks' ? question : said, ended], {
      startMs: START_MS + index * 3_600_000,
    }))
      fold.fold(record);
    return fold.facts(START_MS + 7_200_000);
  });
  expect(sectionsOf(runs).map(({ items, name }) => [name, items.map(({ title, why }) => [title, why])])).toEqual([
    ['asks', [['task asks', 'Which rate is right, 19.5 % or 20 %?']]],
    [
      'answered',
      [
        ['task stuck', 'stuck to its end: the same error again and again'],
        ['task fine', ''],
      ],
    ],
  ]);
});

test('a question before an answer without words is not the last word of the session', () => {
  const fold = new RunFactsFold(ID, { detectors: defaultDetectors() });
  const question: TrajectoryPayload = {
    kind: 'message_appended',
    message: { role: 'assistant', content: 'Which one?' },
  };
  const start: TrajectoryPayload = { kind: 'run_started', identity: { run_id: ID, depth: 0 } };
  for (const record of scriptRun(ID, [start, question, called('ls'), answered('a'), ended], { startMs: START_MS }))
    fold.fold(record);
  const { question: last, verdict } = fold.facts(START_MS);
  expect([verdict.evidence, last]).toEqual([
    'it answered, but its words are not on record; no check that coxswain recognises',
    undefined,
  ]);
});

test('words after a call that the service of the model made are the answer', () => {
  const fold = new RunFactsFold(ID, { detectors: defaultDetectors() });
  const content: StoredContent = [
    { type: 'tool_call', id: 'a', name: 'web_search', args: {} },
    { type: 'text', text: 'It is 20 %.' },
  ];
  const answer: TrajectoryPayload = {
    kind: 'message_appended',
    message: { role: 'assistant', content, stop_reason: 'end_turn' },
  };
  const start: TrajectoryPayload = { kind: 'run_started', identity: { run_id: ID, depth: 0 } };
  for (const record of scriptRun(ID, [start, answer, called('ls', 'a'), answered('1 hit', false, 'a'), ended], {
    startMs: START_MS,
  }))
    fold.fold(record);
  expect(fold.facts(START_MS).verdict.evidence).toBe('it answered; no check that coxswain recognises');
});

test('a session asks the question that nobody answered, and one whose every call failed has failed', () => {
  const sectionsAfter = (name: string) => {
    const fold = new RunFactsFold(ID, { detectors: defaultDetectors() });
    const start: TrajectoryPayload = { kind: 'run_started', identity: { run_id: ID, depth: 0 } };
    for (const record of scriptRun(ID, [start, ...(RUNS[name] ?? [])], { startMs: START_MS })) fold.fold(record);
    return sectionsOf([fold.facts(START_MS + 30_000_000)]).map((section) => [
      section.name,
      section.items[0]?.verb,
      section.items[0]?.why,
    ]);
  };
  expect(sectionsAfter('answered after a refused question')).toEqual([['asks', 'asks', 'Which?']]);
  expect(sectionsAfter('answered after every call failed')).toEqual([
    ['failed', 'failed', 'no call succeeded: ./deploy.sh: no rule'],
  ]);
  expect(sectionsAfter('only announced its next step, without an end')).toEqual([
    ['failed', 'cut off', 'after it announced: Now I will run the tests'],
  ]);
});
