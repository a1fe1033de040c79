/**
 * Cost of redaction. Run: `node bench/redaction.bench.ts`. For short and long results of several kinds, prints the median time to redact
 * the record of a finished call relative to `JSON.stringify` of the same record, with the built-in rules and with `structureOnly`; then
 * the cost of creating a redactor.
 */
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { createRedactor, type Redactor } from '../src/core/redact/redactor.ts';

const ROUNDS = 41;

const KINDS: Readonly<Record<string, string>> = {
  prose:
    'The session store keeps the order of each entry, so a reader that comes later sees what a reader before it saw. ',
  code: 'export function load(path: string): Promise<Entry[]> {\n  const value_of = await read(path, { depth: 42 });\n',
  json: '{"file_path":"/repo/src/module-17/part-3.ts","line":12,"token_count":411,"ok":true,"next_page":"b2Zmc2V0"},',
  log: '2026-03-01T10:10:00.123Z INFO [worker-3] GET https://example.com/api/v1/items?id=77 -> 200 in 12ms size=4411\n',
  env: 'SERVICE_TOKEN=abcd1234efgh5678\nREGION=eu-west-1\nDB_URL=postgres://app:pw12345@db/app\nLEVEL=info\n',
};

function payloadOf(text: string, chars: number): TrajectoryPayload {
  const result = text.repeat(Math.ceil(chars / text.length)).slice(0, chars);
  return {
    kind: 'tool_ended',
    tool_call_id: 'toolu_1',
    tool_name: 'Read',
    // A flat string, as in a decoded record.
    result: JSON.parse(JSON.stringify(result)) as string,
    is_error: false,
    duration_ms: 12,
  };
}

let checksum = 0;

/** Median nanoseconds per call of `work`. */
function timeOf(work: () => number, repeats: number): number {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = process.hrtime.bigint();
    for (let repeat = 0; repeat < repeats; repeat += 1) checksum += work();
    times.push(Number(process.hrtime.bigint() - began) / repeats);
  }
  return times.sort((one, other) => one - other)[ROUNDS >> 1] ?? Number.NaN;
}

const redactors: Readonly<Record<string, Redactor>> = {
  secrets: createRedactor(),
  structureOnly: createRedactor({ mode: 'structureOnly', key: 'a key of the benchmark' }),
};

for (const chars of [400, 50_000]) {
  const repeats = chars === 400 ? 2_000 : 40;
  for (const [kind, text] of Object.entries(KINDS)) {
    const payload = payloadOf(text, chars);
    const record = { schema_version: 1, seq: 1, run_id: 'run', depth: 0, recorded_at_unix_ms: 1, payload };
    const ratios = Object.entries(redactors).map(([mode, redactor]) => {
      const redact = (): number => redactor.redact(payload).kind.length;
      const stringify = (): number => JSON.stringify(record).length;
      timeOf(redact, repeats);
      timeOf(stringify, repeats);
      const unit = timeOf(stringify, repeats);
      const time = timeOf(redact, repeats);
      return `${mode} ${(time / 1e3).toFixed(1)} us (${(time / unit).toFixed(2)}x)`;
    });
    console.log(`${chars} characters of ${kind}: ${ratios.join(', ')}`);
  }
}
console.log(`making a redactor: ${(timeOf(() => (createRedactor() === undefined ? 0 : 1), 100) / 1e3).toFixed(1)} us`);
if (checksum === 0) throw new Error('nothing was redacted');
