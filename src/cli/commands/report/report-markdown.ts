import { callNumber } from '../../../base/call-number.ts';
import { printableCut } from '../../terminal/printable.ts';
import { localTimeText, timeText } from '../../terminal/time-text.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import type { NightRun } from './night-run.ts';
import { adviceFacts, diedText, groupFacts, headFacts, patternFacts, runFacts, workFacts } from './report-text.ts';

const MARKS = { worked: '✓', failed: '✗', unknown: '·' } as const;

/** Formats a report as Markdown, for a message or an issue. */
export function reportMarkdown(report: NightReport, frame: ReportFrame): string {
  const { advice, faults, groups, moments, runs } = report;
  const { count } = report.sums;
  const left = count - runs.length;
  const tables = groups?.map((group) => ({ head: groupFacts(group), of: group.runs })) ?? [{ head: 'Runs', of: runs }];
  return [
    `# What the agents did until ${timeText(frame.untilMs)}`,
    plain(`${frame.from}: ${headFacts(report, frame).join('; ')}`, 1_000),
    ...(moments.length === 0 ? [] : ['## Worth a look']),
    moments
      .map(({ atMs, call, command, runId, what }, at) => {
        const when = atMs === undefined ? '' : `${localTimeText(atMs)}, `;
        const where = call === undefined ? '' : `call ${callNumber(call)} of `;
        return `${at + 1}. ${plain(what, 200)}  \n   ${when}${where}run ${plain(runId, 80)}: ${code(command)}`;
      })
      .join('\n'),
    ...(count === 0 ? [] : tables).flatMap(({ head, of }) => [`## ${plain(head, 300)}`, of.map(runItem).join('\n')]),
    ...(left > 0 ? [`and ${left} more runs`] : []),
    ...(advice.length === 0 ? [] : ['## Advice', 'What followed it, which need not be its effect.']),
    advice.map(([name, tally]) => `- ${plain(name, 40)}: ${adviceFacts(tally).join(', ')}`).join('\n'),
    ...(faults.length === 0 ? [] : ['## Faults']),
    faults.map(([fault, times]) => `- ${times}×  ${plain(fault, 200)}`).join('\n'),
  ]
    .filter((block) => block !== '')
    .join('\n\n')
    .concat('\n');
}

function runItem(run: NightRun): string {
  const { evidence, verdict } = run.verdict;
  const lines = [
    `- ${MARKS[verdict]} **${plain(run.task ?? `run ${run.id}`, 76)}**  `,
    `${plain(`${diedText(run)}${evidence}`, 160)}; ${plain([...runFacts(run), ...workFacts(run)].join(', '), 400)}`,
    ...(run.lastMessage === undefined ? [] : [`“${plain(run.lastMessage, 160)}”`]),
    ...(run.patterns.length === 0 ? [] : [plain(patternFacts(run).join('; '), 300)]),
  ];
  return lines.join('\n  ');
}

/** Escapes Markdown characters. */
function plain(text: string, chars: number): string {
  return printableCut(text, chars).replaceAll(/[\\`*_[\]<>#|~!]/g, String.raw`\$&`);
}

function code(text: string): string {
  return `\`${printableCut(text, 1_000).replaceAll('`', "'")}\``;
}
