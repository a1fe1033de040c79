import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashNumber } from '../src/core/base/hash.ts';
import { importSource } from '../src/formats/import-source.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { defaultDetectors } from '../src/core/detect/detectors/default-detectors.ts';
import { TrajectoryAnalysis } from '../src/core/detect/patterns/trajectory-analysis.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { createRedactor } from '../src/core/redact/redactor.ts';
import { fakeSecrets } from './support/fake-secrets.ts';
import { sharedPath } from './support/shared-data.ts';

const folder = sharedPath('trajectories');
const FILES = [
  'intercode_bash.jsonl.gz',
  'intercode_python.jsonl.gz',
  'openhands_examples.jsonl.gz',
  'raw/codex/*.jsonl',
];
const MAX_RUNS = Number(process.env['COXSWAIN_RUNS'] ?? 40);

/** Letters as a keyed fingerprint has, without a key. */
const fingerprint = (secret: string): string =>
  String(hashNumber(secret)).replaceAll(/\d/g, (digit) => 'ghjkmnpqrs'.charAt(Number(digit)));
const redactor = createRedactor({}, { fingerprint });
const redact = (payload: TrajectoryPayload): TrajectoryPayload => redactor.redact(payload);

/** The patterns of a run, with the calls at which each was flagged and cleared. */
function patternsOf(records: readonly TrajectoryRecord[]): readonly string[] {
  const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
  for (const record of records) analysis.fold(record);
  return analysis.patterns().map(({ kind, flaggedAt, clearedAt }) => `${kind} ${flaggedAt} ${clearedAt}`);
}

const secrets = fakeSecrets();

/** An answer with a secret in it: where answers were equal they stay equal, and others get another. */
function withSecret(payload: TrajectoryPayload): TrajectoryPayload {
  if (payload.kind !== 'tool_ended' || typeof payload.result !== 'string') return payload;
  const { text = '' } = secrets[hashNumber(payload.result) % secrets.length] ?? {};
  return { ...payload, result: `${payload.result}\n${text}\n` };
}

async function* recordedRuns(files: string): AsyncGenerator<readonly TrajectoryRecord[]> {
  let count = 0;
  for (const path of globSync(join(folder ?? '', files)).sort()) {
    const open = new Map<string, TrajectoryRecord[]>();
    for await (const item of readRuns(importSource(path), { source: path })) {
      if (item.type === 'record') open.set(item.run.key, [...(open.get(item.run.key) ?? []), item.record]);
      if (item.type !== 'end') continue;
      yield open.get(item.run.key) ?? [];
      open.delete(item.run.key);
      if ((count += 1) >= MAX_RUNS) return;
    }
  }
}

test.skipIf(folder === undefined).each(FILES)(
  'the same is found in redacted and plain runs of %s, as they are and with secrets in their answers',
  async (files) => {
    const differing: unknown[] = [];
    let runs = 0;
    let hits = 0;
    for await (const records of recordedRuns(files)) {
      runs += 1;
      for (const [name, change] of [
        ['plain', (payload: TrajectoryPayload) => payload],
        ['with secrets', withSecret],
      ] as const) {
        const changed = records.map((record) => ({ ...record, payload: change(record.payload) }));
        const hidden = changed.map((record) => ({ ...record, payload: redact(record.payload) }));
        const [whole, redacted] = [patternsOf(changed), patternsOf(hidden)];
        hits += hidden.filter(({ payload }, index) => payload !== changed[index]?.payload).length;
        if (JSON.stringify(whole) !== JSON.stringify(redacted))
          differing.push([records[0]?.run_id, name, whole, redacted]);
      }
    }
    expect([differing, runs > 2, hits > 20]).toEqual([[], true, true]);
  },
);
