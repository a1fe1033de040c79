import { expect, test } from 'vitest';

import { readAll } from '../../testing/read-all.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { linesStore } from '../../../test/support/lines-store.ts';
import { testFolder } from '../../../test/support/test-folder.ts';

test('a run can be written immediately after the writer that held its lock was killed', async () => {
  const folder = testFolder();
  const script = `
    import { jsonlSink } from ${JSON.stringify(new URL('./jsonl-sink.ts', import.meta.url).href)};
    const store = jsonlSink(process.argv[1]);
    const payload = { kind: 'turn_started' };
    await store.append([{ schema_version: 1, seq: 0, run_id: 'a', depth: 0, recorded_at_unix_ms: 1, payload }]);
    process.stdout.write('stored');
    setInterval(() => undefined, 1000);`;
  const { child, ended } = runScript(script, [folder]);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const store = linesStore(folder, { lock: { waitMs: 0 } });
  const next = [{ ...(await readAll(store, 'a'))[0], seq: 1 }] as unknown as Parameters<typeof store.append>[0];
  const locked = { code: 'store-io', message: expect.stringContaining('is being written') };
  await expect(store.append(next)).rejects.toMatchObject(locked);
  child.kill('SIGKILL');
  await ended;
  expect(await store.append(next)).toBe(1);
  await store.close();
});
