/**
 * Records `samples/stuck-run.jsonl`: a scripted agent works with real tools on a small real task and gets stuck the
 * way agents do. Tool results are real; only the time is simulated (a start in 2026 and a few seconds per turn), so
 * recording again produces the same file.
 *
 * `node scripts/record-sample.ts` writes the file.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '../src/core/base/json.ts';
import { encodeRecord } from '../src/core/records/decode-record.ts';
import { TRAJECTORY_SCHEMA_VERSION, type TrajectoryPayload } from '../src/core/records/trajectory-record.ts';

const RUN_ID = 'sample-stuck-run';
const TASK =
  'check.mjs fails: the invoice total is one cent off. Find the cause in invoice.mjs and make `node check.mjs` pass.';
const STARTED_AT_MS = Date.UTC(2026, 9, 12, 22, 4, 0);
const TURN_MS = 9_000;

const INVOICE = `import { taxOf } from './tax.mjs';

/** Items have a price in cents and a quantity. */
export function totalOf(items) {
  let total = 0;
  for (const item of items) {
    total += Math.round(item.price * item.quantity);
  }
  return total + taxOf(total);
}
`;
const TAX = `/** 7.7 percent, in cents. */
export function taxOf(cents) {
  return Math.floor(cents * 0.077);
}
`;
const CHECK = `import { totalOf } from './invoice.mjs';

const total = totalOf([{ price: 1999, quantity: 3 }, { price: 455, quantity: 2 }]);
if (total !== 7439) {
  console.error(\`FAIL total: expected 7439, got \${total}\`);
  process.exit(1);
}
console.log('ok');
`;

interface Answer {
  readonly result: string;
  readonly isError: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'coxswain-sample-'));
const lines: string[] = [];
let atMs = STARTED_AT_MS;
let calls = 0;

function record(payload: TrajectoryPayload): void {
  lines.push(
    encodeRecord({
      schema_version: TRAJECTORY_SCHEMA_VERSION,
      seq: lines.length,
      run_id: RUN_ID,
      depth: 0,
      recorded_at_unix_ms: atMs,
      payload,
    }),
  );
}

function useTool(tool: string, args: JsonObject): Answer {
  switch (tool) {
    case 'bash':
      return bash(text(args['command']));
    case 'read_file':
      return readFile(text(args['path']));
    case 'edit_file':
      return editFile(text(args['path']), text(args['old']), text(args['new']));
    default:
      return { result: `unknown tool ${tool}`, isError: true };
  }
}

function bash(command: string): Answer {
  const run = spawnSync('bash', ['--norc', '--noprofile', '-c', command], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  return { result: `${run.stdout}${run.stderr}`.trim(), isError: run.status !== 0 };
}

function readFile(path: string): Answer {
  const file = join(folder, path);
  if (!existsSync(file)) return { result: `ENOENT: no such file or directory, open '${path}'`, isError: true };
  return { result: readFileSync(file, 'utf8'), isError: false };
}

function editFile(path: string, before: string, after: string): Answer {
  const file = join(folder, path);
  const content = readFileSync(file, 'utf8');
  if (!content.includes(before)) return { result: `old text not found in ${path}; nothing was changed`, isError: true };
  writeFileSync(file, content.replace(before, after));
  return { result: `edited ${path}`, isError: false };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** One turn: the agent's text and its parallel calls. */
function turn(says: string, ...planned: readonly (readonly [tool: string, args: JsonObject])[]): void {
  atMs += TURN_MS;
  const issued = planned.map(([name, args]) => ({ id: `call-${(calls += 1)}`, name, args }));
  record({ kind: 'turn_started' });
  const blocks = issued.map(({ id, name, args }) => ({ type: 'tool_call', id, name, args }) as const);
  record({
    kind: 'message_appended',
    message: { role: 'assistant', content: [{ type: 'text', text: says }, ...blocks] },
  });
  for (const { id, name, args } of issued) record({ kind: 'tool_started', tool_call_id: id, tool_name: name, args });
  for (const { id, name, args } of issued) {
    const answer = useTool(name, args);
    atMs += 400;
    record({ kind: 'tool_ended', tool_call_id: id, tool_name: name, result: answer.result, is_error: answer.isError });
  }
}

const check = ['bash', { command: 'node check.mjs' }] as const;
const read = (path: string): readonly [string, JsonObject] => ['read_file', { path }];
const edit = (path: string, before: string, after: string): readonly [string, JsonObject] => [
  'edit_file',
  { path, old: before, new: after },
];

function play(): void {
  record({ kind: 'run_started', identity: { run_id: RUN_ID, depth: 0, agent_name: 'scripted sample' }, task: TASK });
  record({ kind: 'message_appended', message: { role: 'user', content: TASK } });
  turn('Let me look around.', ['bash', { command: 'ls' }]);
  turn('I read the sources.', read('invoice.mjs'), read('check.mjs'));
  turn('Now the check.', check);
  // Five edits in the wrong place; the failure stays the same.
  const tries = [
    'Math.round(item.price * item.quantity)',
    'Math.round(item.price) * item.quantity',
    '(item.price * item.quantity)',
    'Math.trunc(item.price * item.quantity)',
    'Math.ceil(item.price * item.quantity)',
    'Math.round(item.quantity * item.price)',
    'item.quantity * item.price',
  ];
  for (const [at, attempt] of tries.slice(1).entries()) {
    turn('Rounding of a line must be the cause.', edit('invoice.mjs', tries[at] ?? '', attempt));
    turn('Does it pass now?', check);
  }
  // Edits that search for text which is already gone.
  for (let again = 0; again < 4; again += 1) {
    turn('I put the rounding back.', edit('invoice.mjs', 'Math.round(item.price * item.quantity)', 'item.price'));
  }
  // Alternates reading and checking without a change.
  for (let again = 0; again < 5; again += 1) {
    turn('Let me read it once more.', read('invoice.mjs'));
    turn('And run the check.', check);
  }
  // Repeats the same listing.
  for (let again = 0; again < 4; again += 1) turn('Is there another file?', ['bash', { command: 'ls -1 *.mjs' }]);
  turn('The tax file!', read('tax.mjs'));
  turn('It floors where it should round.', edit('tax.mjs', 'Math.floor', 'Math.round'));
  turn('Check.', check);
  turn('Clean-up.', ['bash', { command: 'node -e "console.log(process.version.length > 0)"' }]);
  turn('All good, I report the fix.', ['bash', { command: 'grep -n round tax.mjs' }]);
  atMs += TURN_MS;
  const content = 'The tax was floored instead of rounded; `node check.mjs` passes now.';
  record({ kind: 'message_appended', message: { role: 'assistant', content } });
  record({ kind: 'run_ended', outcome: 'ended', new_messages: [], success: true });
}

try {
  for (const [name, content] of Object.entries({ 'invoice.mjs': INVOICE, 'tax.mjs': TAX, 'check.mjs': CHECK })) {
    writeFileSync(join(folder, name), content);
  }
  play();
} finally {
  rmSync(folder, { recursive: true });
}
writeFileSync(new URL('../samples/stuck-run.jsonl', import.meta.url), `${lines.join('\n')}\n`);
console.log(`samples/stuck-run.jsonl: ${lines.length} records, ${calls} calls`);
