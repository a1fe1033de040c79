import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { checkBatch, type CheckedBatch } from '../store/check-batch.ts';
import { everyPayload } from '../../test/support/every-payload.ts';
import { scriptRun } from '../testing/record-script.ts';
import { BatchSender, fromSentBatch } from './sent-batch.ts';

/** A batch as the other thread gets it. */
function passed(sender: BatchSender, checked: CheckedBatch): CheckedBatch {
  const sent = sender.send(checked);
  const arrived = structuredClone(sent, { transfer: [sent.bytes] });
  const read = fromSentBatch(arrived);
  sender.takeBack(structuredClone(arrived.bytes, { transfer: [arrived.bytes] }));
  return read;
}

test('a batch that was sent is the batch that was checked, whatever its texts hold and whatever was sent before', () => {
  const sender = new BatchSender();
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constant('x'.repeat(30_000)));
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 31 }), { minLength: 1 }), (one, kinds) => {
      const all = everyPayload(one).filter(({ kind }) => kind !== 'gap');
      const payloads = kinds.map((kind) => all[kind % all.length] ?? { kind: 'turn_started' as const });
      const checked = checkBatch(scriptRun('a', payloads, { fromSeq: 7 }));
      const read = passed(sender, checked);
      expect(read.records.map(({ json }) => json)).toEqual(checked.records.map(({ json }) => json));
      expect(read.records.map(({ seq, record }) => [seq, record.seq])).toEqual(
        checked.records.map(({ seq }) => [seq, seq]),
      );
      expect({ ...read, records: [] }).toEqual({ ...checked, records: [] });
    }),
  );
});

test('characters of several bytes at the very end of a batch are not cut off', () => {
  for (const text of ['é', '€', '😀', 'aé', 'ab€', 'abc😀', '\ud800']) {
    for (let length = 0; length < 6; length += 1) {
      const payload = { kind: 'session_event', event_type: 'a'.repeat(length), data: text } as const;
      const checked = checkBatch(scriptRun('a', [payload]));
      const [record] = passed(new BatchSender(), checked).records;
      expect(record?.record.payload).toEqual(payload);
    }
  }
});
