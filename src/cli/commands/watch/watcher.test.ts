import { expect, test } from 'vitest';

import { Problems } from '../../runs/problems.ts';
import { Terminal } from '../../terminal/terminal.ts';
import { scriptRun } from '../../../../test/support/script-records.ts';
import type { WatchedEvent } from './watched-item.ts';
import { Watcher } from './watcher.ts';

test('a run that hooks record is of their program, so that its process is looked for', async () => {
  const events: WatchedEvent[] = [];
  const feed = { take: async (event: WatchedEvent) => void events.push(event), called: () => {} };
  const watcher = new Watcher({ feed, notifiers: [], deadline: undefined });
  const source = { problems: new Problems(new Terminal(process)), isLive: () => true, isStore: true };
  const start = { kind: 'run_started', identity: { run_id: 'r', depth: 0 } } as const;
  for (const [id, more] of [
    ['recorded', { host: 'claude-code' }],
    ['own', {}],
  ] as const)
    for (const record of scriptRun(id, [{ ...start, ...more }]))
      await watcher.take({ type: 'record', run: { key: id, id, depth: 0 }, record }, source);
  expect(events).toMatchObject([
    { type: 'run_started', run: 'recorded', format: 'claude-code' },
    { type: 'run_started', run: 'own', format: 'coxswain' },
  ]);
});
