import { writeOutput } from '../../runs/write-output.ts';
import { withoutSecrets, sendWithRetries } from '../../../hosts/notify/notifier.ts';
import { htmlPage, markdownText, pageStart, terminalText } from '../../document/write-document.ts';
import { printable, outputLine } from '../../../core/base/printable.ts';
import type { Document } from '../../document/document.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import { lessonsDocument, lessonJson } from './lessons-document.ts';
import { needsDocument, reportDocument } from './report-document.ts';
import { screenDocument } from './screen-document.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { invalidArgument } from '../../../core/base/error.ts';
import type { NotifyFailure } from '../../../hosts/notify/notification.ts';
import { postJson } from '../../../hosts/notify/webhook-target.ts';

const MAX_WRITTEN = 1_000;

export interface ReportForm {
  readonly json?: boolean;
  readonly hasFailuresOnly?: boolean;
  readonly all?: boolean;
  readonly needsMe?: boolean;
  readonly markdown?: boolean;
  readonly html?: string;
  readonly to?: readonly string[];
}

export async function writeReport(
  report: NightReport,
  frame: ReportFrame,
  { form, terminal }: { readonly form: ReportForm; readonly terminal: Terminal },
): Promise<boolean> {
  const { all, html, json, markdown, needsMe = false, to } = form;
  if (form.hasFailuresOnly === true) {
    if (json !== true) await terminal.write(terminalText(lessonsDocument(report, frame), terminal));
    else for (const line of lessonJson(report)) await terminal.write(outputLine(line));
    return true;
  }
  const written = (): Document => (needsMe ? needsDocument(report, frame) : reportDocument(report, frame, MAX_WRITTEN));
  if (to !== undefined) return sendToAll(to, { document: written(), json: report.toJson(frame, needsMe) }, terminal);
  if (json === true) await terminal.write(outputLine(report.toJson(frame, needsMe)));
  else if (markdown === true) await terminal.write(markdownText(written()));
  else if (html === undefined) {
    const document =
      all === true || needsMe || report.grouping !== 'project'
        ? written()
        : screenDocument(report, frame, terminal.width);
    await terminal.write(terminalText(document, terminal));
  } else {
    await writeOutput(html, pageStart(), htmlPage(written()));
    await terminal.write(`${printable(html)}: written\n`);
  }
  return true;
}

async function sendToAll(
  targets: readonly string[],
  { document, json }: { readonly document: Document; readonly json: object },
  terminal: Terminal,
): Promise<boolean> {
  // Also redacts the paths of sources. Redacts before writing, because escapes change the form of a secret.
  const sentReport = { markdown: markdownText(withoutSecretsIn(document)), json: withoutSecretsIn(json) };
  let isSent = true;
  for (const target of targets.map(reportTarget)) {
    const failure = await sendReport(target, sentReport);
    if (failure === undefined) continue;
    isSent = false;
    terminal.complain(`coxswain: the report was not sent to ${printable(target.name)}: ${printable(failure.why)}`);
  }
  return isSent;
}

function withoutSecretsIn<Value>(value: Value): Value {
  // Replaces strings with strings, so the type does not change.
  return JSON.parse(JSON.stringify(value), (_key, one: unknown) =>
    typeof one === 'string' ? withoutSecrets(one) : one,
  ) as Value;
}

const SLACK_CHARS = 39_000;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

export interface ReportTarget {
  readonly url: string;
  readonly name: string;
}

interface SentReport {
  readonly markdown: string;
  readonly json: unknown;
}

/** Messages contain only the host of a webhook, because the rest of the URL may contain a key. */
export function reportTarget(text: string): ReportTarget {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (url !== null && isSafe) return { url: text, name: `the webhook at ${url.host}` };
  throw invalidArgument('--to takes an address that begins with https://');
}

async function sendReport(target: ReportTarget, report: SentReport): Promise<NotifyFailure | undefined> {
  const { json, markdown } = report;
  const isSlack = new URL(target.url).host === 'hooks.slack.com';
  const body = isSlack ? { text: markdown.slice(0, SLACK_CHARS).toWellFormed() } : { text: markdown, report: json };
  return sendWithRetries(() => postJson(target.url, body), sleep);
}
