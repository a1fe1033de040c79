import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../../../core/base/clock.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { loadNotifyConfig } from '../../../hosts/config/load-config.ts';
import { untrustedText } from '../../../hosts/config/loaded-config.ts';
import { Problems } from '../../runs/problems.ts';
import { printable } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { Notifier, targetsOf } from '../../../hosts/notify/notifier.ts';

export async function notifyTestCommand(_options: object, terminal: Terminal): Promise<number> {
  const problems = new Problems(terminal);
  problems.source('notify');
  const { resolved, untrusted } = await loadNotifyConfig(process.cwd(), (message) => problems.fault({ message }));
  const targets = targetsOf(resolved.notify ?? {});
  if (targets.length === 0) {
    const ignored = untrustedText({ untrusted });
    const problem = 'no notifications are configured: set notify to a webhook, a command or the desktop';
    throw invalidArgument(ignored === undefined ? problem : `${problem}; ${ignored}`);
  }
  for (const target of targets) {
    let isSent = true;
    const onFailure = (message: string): void => {
      isSent = false;
      problems.fault({ message });
    };
    const notifier = new Notifier({ targets: [target], clock: systemClock, sleep, onFailure });
    notifier.tell({ event: 'test', run: 'test', message: 'This is a test of coxswain notifications.' });
    await notifier.finish();
    if (isSent) await terminal.write(`${printable(target.name)}: sent\n`);
  }
  problems.endSource();
  return problems.any ? 1 : 0;
}
