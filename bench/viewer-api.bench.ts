/**
 * Response times of the viewer's server for a page's first requests: the list of 10,000 runs, the first page of records of a run of
 * 100,000, and a distant page of that run; and the longest task of the event loop meanwhile. Prints one line per request.
 *
 *   npx node bench/viewer-api.bench.ts [--runs 10000] [--records 100000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';

import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { openSqliteReader } from '../src/stores/sqlite/sqlite-reader.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { scriptRun } from '../test/support/script-records.ts';
import { startViewer, type RunningViewer } from '../src/viewer/server/start-viewer.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, records: { type: 'string', default: '100000' } },
});
const runs = Number(values.runs);
const records = Number(values.records);

const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'));
try {
  const path = join(folder, 'runs.db');
  const store = sqliteStore(path, { fsync: 'none' });
  await fill(store);
  await store.close();
  const cacheFolder = join(folder, 'cache');
  let { headers, origin, viewer } = await opened();
  async function opened(): Promise<{ viewer: RunningViewer; origin: string; headers: { readonly cookie: string } }> {
    const started = await startViewer({ paths: [path], port: 0, cacheFolder });
    const at = `http://127.0.0.1:${started.port}`;
    const session = await fetch(`${at}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-coxswain': '1' },
      body: JSON.stringify({ token: new URL(started.url).hash.slice('#token='.length) }),
    });
    const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    return { viewer: started, origin: at, headers: { cookie } };
  }
  const get = async (target: string): Promise<string> => (await fetch(`${origin}${target}`, { headers })).text();
  const measure = async (what: string, work: () => Promise<number>): Promise<void> => {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const startMs = performance.now();
    const bytes = await work();
    const tookMs = performance.now() - startMs;
    delay.disable();
    const blockedMs = Math.max(0, delay.max / 1e6 - 5);
    console.log(
      `${what.padEnd(58)} ${tookMs.toFixed(0).padStart(6)} ms  ${(bytes / 1024).toFixed(0).padStart(6)} KB  longest task ${blockedMs.toFixed(0)} ms`,
    );
  };
  const one = (target: string) => async (): Promise<number> => (await get(target)).length;

  console.log(`${runs} runs, and one of ${records} records without steering; node ${process.versions.node}`);
  await measure('list: first page of 100, cold (all runs are read)', one('/api/runs'));
  await measure('list: first page of 100, warm', one('/api/runs'));
  await measure('list: 1,000 rows, warm', one('/api/runs?limit=1000'));
  await measure('list: sorted by errors', one('/api/runs?sort=errors'));
  await measure('list: all rows, page by page of 1,000', async () => {
    let bytes = 0;
    let after: string | undefined;
    do {
      const text = await get(`/api/runs?limit=1000${after === undefined ? '' : `&after=${after}`}`);
      bytes += text.length;
      after = (JSON.parse(text) as { readonly next?: string }).next;
    } while (after !== undefined);
    return bytes;
  });
  const ids = Array.from({ length: 40 }, (_, index) => `0/run-${index}`).join(',');
  await measure('rows: extras of 40 runs', one(`/api/rows?ids=${ids}`));
  await measure('search: a word of one run', one('/api/runs?q=needle'));
  await measure('run: first page of 200 records', one('/api/runs/0/long/records'));
  await measure('run: first answer, with the overview so far', one('/api/runs/0/long'));
  await measure('run: overview, complete', async () => {
    for (;;) {
      const text = await get('/api/runs/0/long/overview');
      if ((JSON.parse(text) as { readonly complete: boolean }).complete) return text.length;
    }
  });
  await measure('run: overview, warm', one('/api/runs/0/long/overview'));
  await measure('run: records from the middle', one(`/api/runs/0/long/records?from=${records / 2}`));
  await measure('run: a text at its end is found', async () => {
    let from = 0;
    for (;;) {
      const text = await get(`/api/runs/0/long/find?q=needle&from=${from}`);
      const found = JSON.parse(text) as { readonly seq: number | null; readonly resumeFrom?: number };
      if (found.resumeFrom === undefined) return text.length;
      from = found.resumeFrom;
    }
  });
  await measure('run: export of all of it', one('/api/runs/0/long/export.html'));
  const stuck = async (): Promise<number> => {
    for (;;) {
      const text = await get('/api/runs?pattern=stuck');
      if ((JSON.parse(text) as { readonly pending: number }).pending === 0) return text.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await measure('list: all stuck runs (each is read)', stuck);
  await measure('overview: all runs, warm', one('/api/cohort'));
  await viewer.close();
  const reader = openSqliteReader(path);
  const readMs = await timeOf(async () => {
    for (let index = -1; index < runs; index += 1) {
      for await (const record of reader.readRun(index < 0 ? 'long' : `run-${index}`)) void record;
    }
  });
  await reader.close();
  ({ headers, origin, viewer } = await opened());
  const filterMs = await timeOf(stuck);
  console.log(
    `after a restart, the first filter by pattern takes ${filterMs.toFixed(0)} ms: ${(filterMs / readMs).toFixed(2)} of reading and parsing the store (${readMs.toFixed(0)} ms)`,
  );
  console.log(`memory: ${(process.memoryUsage().rss / 1024 / 1024).toFixed(0)} MB resident`);
  await viewer.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

async function fill(store: TrajectoryStore): Promise<void> {
  for (let index = 0; index < runs; index += 1) {
    await store.append(
      scriptRun(`run-${index}`, [...runPayloads(`run-${index}`, 5)], { startMs: 1_000_000 + index * 1_000 }),
    );
  }
  let batch: TrajectoryRecord[] = [];
  let seq = 0;
  const payloads = [...runPayloads('long', Math.ceil(records / 4))].slice(0, records - 1);
  for (const payload of [...payloads, message('needle')]) {
    batch.push(...scriptRun('long', [payload], { fromSeq: seq, startMs: 500_000 }));
    seq += 1;
    if (batch.length < 500) continue;
    await store.append(batch);
    batch = [];
  }
  if (batch.length > 0) await store.append(batch);
}

/** About 1 KB per record of a call, like real ones. */
function* runPayloads(runId: string, calls: number): Generator<TrajectoryPayload> {
  yield { kind: 'run_started', identity: { run_id: runId, depth: 0 }, task: `Fix part ${runId}.` };
  for (let index = 0; index < calls; index += 1) {
    const id = `call-${index}`;
    const isError = index % 7 === 0;
    yield { kind: 'turn_started' };
    yield message(`I look at part ${index} now, because what was there before did not tell.`);
    yield {
      kind: 'tool_started',
      tool_call_id: id,
      tool_name: 'bash',
      args: { command: `cat src/part-${index}.ts | head -50` },
    };
    const result = `line ${index * 7919} of a file\n`.repeat(30);
    yield { kind: 'tool_ended', tool_call_id: id, tool_name: 'bash', result, is_error: isError };
  }
}

function message(text: string): TrajectoryPayload {
  return { kind: 'message_appended', message: { role: 'assistant', content: text } };
}
