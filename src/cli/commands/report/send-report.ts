import { setTimeout as sleep } from 'node:timers/promises';

import { invalidArgument } from '../../../core/base/error.ts';
import type { NotifyFailure } from '../../../hosts/notify/notification.ts';
import { sendWithRetries } from '../../../hosts/notify/notifier.ts';
import { postJson } from '../../../hosts/notify/webhook-target.ts';
import { removedOptionText } from '../../terminal/removed-commands.ts';

/** Maximum text length in Slack. */
const SLACK_CHARS = 39_000;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** A webhook. */
export interface ReportTarget {
  readonly url: string;
  readonly name: string;
}

export interface SentReport {
  readonly markdown: string;
  readonly json: unknown;
}

/**
 * Parses a target: `https://…`, or `http://` on this machine. Messages contain only the host of a webhook,
 * because the rest of the URL may contain a key.
 *
 * @throws CoxswainError `invalid-argument` for anything else
 */
export function reportTarget(text: string): ReportTarget {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (url !== null && isSafe) return { url: text, name: `the webhook at ${url.host}` };
  throw invalidArgument(
    removedOptionText(`--to ${url?.protocol ?? ''}`) ?? '--to takes an address that begins with https://',
  );
}

/** Sends a report. Tries a busy webhook three times. @returns the failure; undefined on success */
export async function sendReport(target: ReportTarget, report: SentReport): Promise<NotifyFailure | undefined> {
  const { json, markdown } = report;
  const isSlack = new URL(target.url).host === 'hooks.slack.com';
  const body = isSlack ? { text: markdown.slice(0, SLACK_CHARS).toWellFormed() } : { text: markdown, report: json };
  return sendWithRetries(() => postJson(target.url, body), sleep);
}
