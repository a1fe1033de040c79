import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { invalidArgument, messageOf } from '../../../base/error.ts';
import { optionalPackage } from '../../../base/optional-package.ts';
import type { NotifyFailure } from '../../../notify/notification.ts';
import { sendWithRetries } from '../../../notify/notifier.ts';
import { postJson } from '../../../notify/webhook-target.ts';

/** Maximum text length in Slack. */
const SLACK_CHARS = 39_000;
/** Time limit in milliseconds for a mail server to connect, to greet and to respond. */
const SERVER_TIMEOUT_MS = 30_000;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

export type ReportTarget =
  | { readonly type: 'webhook'; readonly url: string; readonly name: string }
  | { readonly type: 'mail'; readonly to: string; readonly name: string };

export interface SentReport {
  readonly subject: string;
  readonly markdown: string;
  readonly html: string;
  readonly json: unknown;
}

/**
 * Parses a target: `https://…`, `http://` on this machine, or `mailto:ADDRESS`. Messages contain only the host of a webhook,
 * because the rest of the URL may contain a key.
 *
 * @throws CoxswainError `invalid-argument` for anything else
 */
export function reportTarget(text: string): ReportTarget {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (url !== null && isSafe) return { type: 'webhook', url: text, name: `the webhook at ${url.host}` };
  const recipient = url?.protocol === 'mailto:' ? decodeURIComponent(url.pathname) : '';
  if (/^[^\s,@]+@[^\s,@]+$/.test(recipient)) return { type: 'mail', to: recipient, name: recipient };
  throw invalidArgument('--to takes an address that begins with https://, or mailto:YOU@HOST');
}

/** Sends a report. Tries a busy webhook three times. @returns the failure; undefined on success */
export async function sendReport(target: ReportTarget, report: SentReport): Promise<NotifyFailure | undefined> {
  if (target.type === 'mail') return sendMail(target.to, report);
  const { json, markdown } = report;
  const isSlack = new URL(target.url).host === 'hooks.slack.com';
  const body = isSlack ? { text: markdown.slice(0, SLACK_CHARS).toWellFormed() } : { text: markdown, report: json };
  return sendWithRetries(() => postJson(target.url, body), sleep);
}

/** Sends a mail through the server in `COXSWAIN_SMTP` (`smtps://user:password@host`), or through `sendmail` if it is not set. */
async function sendMail(
  recipient: string,
  { html, markdown, subject }: SentReport,
): Promise<NotifyFailure | undefined> {
  const mailer = await optionalPackage(() => import('nodemailer'));
  if (mailer === undefined) {
    const problem =
      'mail needs the package nodemailer, which is not installed next to coxswain; run: npm install nodemailer, with -g if coxswain is installed with -g';
    return { why: problem, mayRetry: false };
  }
  const { COXSWAIN_MAIL_FROM: sender = `coxswain <${userInfo().username}@localhost>`, COXSWAIN_SMTP: smtp = '' } =
    process.env;
  const server = smtp === '' ? { sendmail: true } : serverAt(smtp);
  if (server === undefined) {
    const problem = 'COXSWAIN_SMTP is not the address of a mail server; give one such as smtps://user:password@host';
    return { why: problem, mayRetry: false };
  }
  const transport = mailer.createTransport(server);
  try {
    const options = { disableFileAccess: true, disableUrlAccess: true };
    await transport.sendMail({ from: sender, to: recipient, subject, text: markdown, html, ...options });
    return undefined;
  } catch (error) {
    const hint = smtp === '' ? '; name a mail server in COXSWAIN_SMTP, such as smtps://user:password@host' : '';
    return { why: `${messageOf(error)}${hint}`, mayRetry: false };
  } finally {
    transport.close();
  }
}

/** Adds time limits to the URL. By default nodemailer waits up to ten minutes, which would block a scheduled report. */
function serverAt(smtp: string): string | undefined {
  const url = URL.parse(smtp);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined;
  for (const limit of ['connectionTimeout', 'greetingTimeout', 'socketTimeout']) {
    if (!url.searchParams.has(limit)) url.searchParams.set(limit, String(SERVER_TIMEOUT_MS));
  }
  return url.href;
}
