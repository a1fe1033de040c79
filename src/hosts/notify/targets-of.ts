import { invalidArgument } from '../../core/base/error.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import { commandTarget, desktopTarget } from './command-target.ts';
import type { NotifyTarget } from './notification.ts';
import { webhookTarget } from './webhook-target.ts';

/** Returns the targets of a configuration. @throws CoxswainError `invalid-argument` if the webhook is not a URL */
export function targetsOf({ webhook, form, command, desktop }: NotifySection): readonly NotifyTarget[] {
  if (webhook !== undefined && !URL.canParse(webhook)) {
    throw invalidArgument('notify.webhook is not an address: give one that begins with https://');
  }
  return [
    ...(webhook === undefined ? [] : [webhookTarget(webhook, form)]),
    ...(command === undefined ? [] : [commandTarget(command, 'notify.command')]),
    ...(desktop === true ? [desktopTarget()] : []),
  ];
}
