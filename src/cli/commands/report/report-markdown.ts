import { callNumber } from '../../../base/call-number.ts';
import { printableCut } from '../../terminal/printable.ts';
import { localTimeText, timeText } from '../../terminal/time-text.ts';
import { verdictMark } from '../../runs/run-text.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import type { NightRun } from './night-run.ts';
import { adviceFacts, diedText, groupFacts, headFacts, patternFacts, runFacts, workFacts } from './report-text.ts';

/** Formats a report as Markdown, for a message or an issue. */
export function reportMarkdown(report: NightReport, frame: ReportFrame): string {
  const { advice, faults, groups, moments, runs } = report;
  const { count } = report.sums;
  const hiddenCount = count - runs.length;
  const tables = groups?.map((group) => ({ head: groupFacts(group), of: group.runs })) ?? [{ head: 'Runs', of: runs }];
  return [
    `# What the agents did until ${timeText(frame.untilMs)}`,
    plainText(`${frame.from}: ${headFacts(report, frame).join('; ')}`, 1_000),
    ...(moments.length === 0 ? [] : ['## Worth a look']),
    moments
      .map(({ atMs, call, command, runId, what }, at) => {
        const timePrefix = atMs === undefined ? '' : `${localTimeText(atMs)}, `;
        const callPrefix = call === undefined ? '' : `call ${callNumber(call)} of `;
        return `${at + 1}. ${plainText(what, 200)}  \n   ${timePrefix}${callPrefix}run ${plainText(runId, 80)}: ${codeText(command)}`;
      })
      .join('\n'),
    ...(count === 0 ? [] : tables).flatMap(({ head, of }) => [
      `## ${plainText(head, 300)}`,
      of.map(runItem).join('\n'),
    ]),
    ...(hiddenCount > 0 ? [`and ${hiddenCount} more runs`] : []),
    ...(advice.length === 0 ? [] : ['## Advice', 'What followed it, which need not be its effect.']),
    advice.map(([name, tally]) => `- ${plainText(name, 40)}: ${adviceFacts(tally).join(', ')}`).join('\n'),
    ...(faults.length === 0 ? [] : ['## Faults']),
    faults.map(([fault, times]) => `- ${times}×  ${plainText(fault, 200)}`).join('\n'),
  ]
    .filter((block) => block !== '')
    .join('\n\n')
    .concat('\n');
}

function runItem(run: NightRun): string {
  const { evidence } = run.verdict;
  const lines = [
    `- ${verdictMark(run, (_style, text) => text)} **${plainText(run.task ?? `run ${run.id}`, 76)}**  `,
    `${plainText(`${diedText(run)}${evidence}`, 160)}; ${plainText([...runFacts(run), ...workFacts(run)].join(', '), 400)}`,
    ...(run.lastMessage === undefined ? [] : [`“${plainText(run.lastMessage, 160)}”`]),
    ...(run.patterns.length === 0 ? [] : [plainText(patternFacts(run).join('; '), 300)]),
  ];
  return lines.join('\n  ');
}

/** Escapes Markdown characters. */
function plainText(text: string, chars: number): string {
  return printableCut(text, chars).replaceAll(/[\\`*_[\]<>#|~!]/g, String.raw`\$&`);
}

function codeText(text: string): string {
  return `\`${printableCut(text, 1_000).replaceAll('`', "'")}\``;
}
