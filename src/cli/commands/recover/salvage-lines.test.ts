import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { segmentName } from '../../../store/jsonl/jsonl-names.ts';
import { jsonlSink } from '../../../store/jsonl/jsonl-sink.ts';
import { allOf } from '../../../testing/read-all.ts';
import { scriptCalls } from '../../../testing/record-script.ts';
import { tempFolder } from '../../../../test/support/temp-folder.ts';
import { salvageLines } from './salvage-lines.ts';

test('of a run whose only write has a damaged line the other lines are saved, and the place is named', async () => {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const records = scriptCalls('a', 3);
  const store = jsonlSink(folder.path);
  await store.append(records);
  await store.close();
  const run = join(folder.path, 'run-a');
  const file = await open(join(run, segmentName(0)), 'r+');
  const at = (await file.readFile()).indexOf('call-1');
  await file.write('#', at);
  await file.close();

  const reason = expect.stringContaining(`${segmentName(0)}, line 2: the line is not as it was written`);
  expect(await allOf(salvageLines(run))).toEqual([
    { type: 'record', record: records[0] },
    { type: 'damage', reason },
    { type: 'record', record: records[2] },
  ]);
});
