import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { jsonlSink } from '../../../store/jsonl/jsonl-sink.ts';
import { scriptCalls } from '../../../testing/record-script.ts';
import { testFolder } from '../../../../test/support/test-folder.ts';
import { salvageLines } from './salvage-lines.ts';

const FIRST = '0000000000000000.jsonl';

test('of a run whose only write has a damaged line the other lines are saved, and the place is named', async () => {
  const folder = testFolder();
  const records = scriptCalls('a', 3);
  const store = jsonlSink(folder);
  await store.append(records);
  await store.close();
  const run = join(folder, 'run-a');
  const file = await open(join(run, FIRST), 'r+');
  const at = (await file.readFile()).indexOf('call-1');
  await file.write('#', at);
  await file.close();

  const reason = expect.stringContaining(`${FIRST}, line 2: the line is damaged`);
  expect(await Array.fromAsync(salvageLines(run))).toEqual([
    { type: 'record', record: records[0] },
    { type: 'damage', reason },
    { type: 'damage', reason: expect.stringContaining('line 3: seq 1 is missing') },
    { type: 'record', record: records[2] },
  ]);
});
