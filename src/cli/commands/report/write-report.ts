import { writeOutput } from '../../runs/write-output.ts';
import { withoutSecrets } from '../../../notify/notifier.ts';
import { jsonLine, printable } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import { reportHtml } from './report-html.ts';
import { reportMarkdown } from './report-markdown.ts';
import { reportText } from './report-text.ts';
import { reportTarget, sendReport } from './send-report.ts';

/** The output format of a report. Default: text. */
export interface ReportForm {
  readonly json?: boolean;
  readonly markdown?: boolean;
  /** Path of the HTML file. */
  readonly html?: string;
  /** Target addresses. */
  readonly to?: readonly string[];
}

/** Prints, writes or sends a report. @returns false if sending failed @throws CoxswainError `input-io` */
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
    await writeOutput(html, reportHtml(report, frame));
    await terminal.write(`${printable(html)}: written\n`);
  }
  return true;
}

/** Prints nothing on success, so that a scheduler such as cron sends no mail. */
async function sendToAll(
  targets: readonly string[],
  report: NightReport,
  frame: ReportFrame,
  terminal: Terminal,
): Promise<boolean> {
  const sentReport = {
    // Redacts the whole text again, because it also contains the paths of sources.
    markdown: withoutSecrets(reportMarkdown(report, frame)),
    json: withoutSecretsIn(report.toJson(frame)),
  };
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
