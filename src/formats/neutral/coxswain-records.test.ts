import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { coxswainImporter } from './coxswain-records.ts';
import type { ImportItem } from '../importer.ts';

const SOURCE = { path: '/x/log.jsonl', name: 'log.jsonl' };

function record(runId: string, seq: number, payload: TrajectoryPayload): object {
  return { schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: 1_000 + seq, payload };
}

const started = (runId: string, extra: object = {}): object =>
  record(runId, 0, { kind: 'run_started', identity: { run_id: runId, depth: 0, ...extra }, task: `task of ${runId}` });
const turn = (runId: string, seq: number): object => record(runId, seq, { kind: 'turn_started' });

function read(lines: readonly unknown[]): readonly ImportItem[] {
  const lineImport = coxswainImporter.open(SOURCE);
  const items = lines.flatMap((line, index) => [...lineImport.line(line, index + 1)]);
  return [...items, ...lineImport.end()];
}

function messages(items: readonly ImportItem[]): readonly string[] {
  return items.flatMap((item) =>
    item.type === 'diagnostic' ? [`${item.diagnostic.severity}: ${item.diagnostic.message}`] : [],
  );
}

test('runs may be interleaved, and a child names its parent', () => {
  const items = read([started('a'), started('b', { parent_run_id: 'a', model_id: 'm' }), turn('a', 1), turn('b', 1)]);
  expect(items).toEqual([
    { type: 'run', run: { key: 'a', id: 'a', format: 'coxswain', task: 'task of a', startedAtMs: 1_000 } },
    {
      type: 'run',
      run: {
        key: 'b',
        id: 'b',
        format: 'coxswain',
        task: 'task of b',
        parentId: 'a',
        modelId: 'm',
        startedAtMs: 1_000,
      },
    },
    { type: 'record', runKey: 'a', payload: { kind: 'turn_started' }, atMs: 1_001 },
    { type: 'record', runKey: 'b', payload: { kind: 'turn_started' }, atMs: 1_001 },
  ]);
});

test('repeated records are left out with a note, missing ones are an error', () => {
  const items = read([started('a'), turn('a', 1), turn('a', 1), turn('a', 4)]);
  expect(items.filter((item) => item.type === 'record')).toHaveLength(2);
  expect(messages(items)).toEqual([
    'error: records 2 to 3 of the run are missing',
    'note: left out: 1 records with a seq that was read before',
  ]);
});

test('a gap record fills its place', () => {
  const items = read([started('a'), record('a', 1, { kind: 'gap', through_seq: 5, reason: 'full' }), turn('a', 6)]);
  expect(messages(items)).toEqual([]);
});

test('a record of a newer schema and one that is broken are errors, and the rest is read', () => {
  const items = read([started('a'), { ...turn('a', 1), schema_version: 99 }, { seq: 'x' }, turn('a', 1)]);
  expect(messages(items)).toHaveLength(2);
  expect(messages(items)[0]).toContain('schema version 99');
  expect(items.filter((item) => item.type === 'record')).toHaveLength(1);
});

test('a payload of an unknown kind is forwarded whole', () => {
  const items = read([started('a'), { ...turn('a', 1), payload: { kind: 'later_invention', x: [1] } }]);
  expect(items[1]).toMatchObject({ payload: { kind: 'unrecognised', original: { kind: 'later_invention', x: [1] } } });
});

test('records are recognised by their shape', () => {
  expect(coxswainImporter.recognise([started('a'), turn('a', 1)], SOURCE)).toBe(1);
  expect(coxswainImporter.recognise([{ seq: 1 }, {}], SOURCE)).toBe(0);
});

test('how the steering of a run began comes through, so that a replay has its deadline', () => {
  const steering = { prompt_name: 'run/default', deadline_at_unix_ms: 9, configuration_hash: 'x', mode: 'steer' };
  const payload = { kind: 'run_started', identity: { run_id: 'r', depth: 0 }, steering };
  const line = { schema_version: 1, seq: 0, run_id: 'r', depth: 0, recorded_at_unix_ms: 1, payload };
  const items = [...coxswainImporter.open(SOURCE).line(line, 1)];
  expect(items).toMatchObject([{ type: 'run', run: { steering } }]);
});
