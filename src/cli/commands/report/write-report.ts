import { writeFile } from 'node:fs/promises';

import { CoxswainError, messageOf } from '../../../base/error.ts';
import { checkOutput } from '../../../base/guarded-file.ts';
import { countOf, countText } from '../../../base/number-text.ts';
import { withoutSecrets } from '../../../notify/notifier.ts';
import { jsonLine, printable } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import type { FoundRun } from './night-run.ts';
import { reportHtml } from './report-html.ts';
import { reportMarkdown } from './report-markdown.ts';
import { reportText } from './report-text.ts';
import { reportTarget, sendReport } from './send-report.ts';

/** How a report is given: one of these, else as text. */
export interface ReportForm {
  readonly json?: boolean;
  readonly markdown?: boolean;
  /** A file. */
  readonly html?: string;
  /** Addresses. */
  readonly to?: readonly string[];
}

/** Prints, writes or sends a report. @returns whether it arrived everywhere it was sent to @throws CoxswainError `input-io` */
export async function writeReport(
  report: NightReport,
  frame: ReportFrame,
  { form, terminal }: { readonly form: ReportForm; readonly terminal: Terminal },
): Promise<boolean> {
  const { html, json, markdown, to } = form;
  if (to !== undefined) return sendToAll(to, report, frame, terminal);
  if (json === true) await terminal.write(jsonLine(report.toJson(frame)));
  else if (markdown === true) await terminal.write(reportMarkdown(report, frame));
  else if (html === undefined) await terminal.write(reportText(report, frame, terminal));
  else {
    try {
      checkOutput(html);
      await writeFile(html, reportHtml(report, frame), { mode: 0o600 });
    } catch (error) {
      throw new CoxswainError('input-io', `${html} cannot be written: ${messageOf(error)}`, { cause: error });
    }
    await terminal.write(`${printable(html)}: written\n`);
  }
  return true;
}

/** Silent where it arrives, so that a scheduler has nothing to say. */
async function sendToAll(
  to: readonly string[],
  report: NightReport,
  frame: ReportFrame,
  terminal: Terminal,
): Promise<boolean> {
  const { count, died } = report;
  const sent = {
    subject: `coxswain: ${countOf(count, 'run')}${died > 0 ? `, ${countText(died)} failed or died` : ''}`,
    // Once more as a whole: paths of sources come in last.
    markdown: withoutSecrets(reportMarkdown(report, frame)),
    html: withoutSecrets(reportHtml(report, frame)),
    json: withoutSecretsIn(report.toJson(frame)),
  };
  let isSent = true;
  for (const target of to.map(reportTarget)) {
    const failure = await sendReport(target, sent);
    if (failure === undefined) continue;
    isSent = false;
    terminal.complain(`coxswain: the report was not sent to ${printable(target.name)}: ${printable(failure.why)}`);
  }
  return isSent;
}

/** A run without secrets in what a report says of it. */
export function sendable(found: FoundRun): FoundRun {
  const { faults, moments, run } = found;
  return { ...found, ...withoutSecretsIn({ faults, moments, run }) };
}

function withoutSecretsIn<Value>(value: Value): Value {
  // JSON in, the same shape out: only strings are replaced, by strings.
  return JSON.parse(JSON.stringify(value), (_key, one: unknown) =>
    typeof one === 'string' ? withoutSecrets(one) : one,
  ) as Value;
}
