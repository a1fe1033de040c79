import { callNumber } from '../../core/base/call-number.ts';
import { inWords } from '../../core/records/words.ts';
import type { Severity } from '../../core/records/spoken-advice.ts';
import type { AdviceEvent, CallEvent, LiveEvent, PatternEvent } from './live-event.ts';
import { countOf } from '../../core/base/number-text.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { printable, printableCut } from '../../core/base/printable.ts';

/** Maximum length of a printed text. Advice of the built-in providers is much shorter. */
const MAX_TEXT_CHARS = 4_000;
const MIN_CALL_CHARS = 24;
const SEVERITY_STYLE: Readonly<Record<Severity, Style>> = { info: 'cyan', caution: 'yellow', warning: 'red' };

export interface LiveTextOptions {
  readonly paint: Paint;
  /** Number of columns in a line. */
  readonly width: number;
  /** True: wraps advice at `width` columns. */
  readonly wrap: boolean;
}

/** Formats an event: one line for a call or a pattern, an indented block for advice. */
export function liveLines(event: LiveEvent, options: LiveTextOptions): readonly string[] {
  const { paint, width } = options;
  switch (event.type) {
    case 'call':
      return [callLine(event, options)];
    case 'pattern':
      return [patternLine(event, paint)];
    case 'advice':
      return adviceLines(event, options);
    default: {
      const what = `${event.provider} failed at ${event.phase} and stayed silent: ${event.message}`;
      return [`  ${paint('red', '!')} ${printableCut(what, Math.max(MIN_CALL_CHARS, width - 4))}`];
    }
  }
}

function callLine({ index, call, failed, error, missing }: CallEvent, { paint, width }: LiveTextOptions): string {
  const number = `#${callNumber(index)}`;
  const room = Math.max(MIN_CALL_CHARS, width - number.length - 3);
  const head = `  ${paint('dim', number)} `;
  if (missing === true) return `${head}${printableCut(call, room - 14)}  ${paint('dim', '? no result')}`;
  if (!failed) return head + printableCut(call, room);
  const reason = error === undefined ? '' : ` ${printable(error)}`;
  const shown = printableCut(call, Math.max(Math.floor(room / 2), room - reason.length - 3));
  return `${head}${shown}  ${paint('red', `×${printableCut(reason, Math.max(2, room - shown.length - 3))}`)}`;
}

function patternLine({ change, pattern }: PatternEvent, paint: Paint): string {
  const { kind, level, stuck, tool, occurrences, firstSeen } = pattern;
  const name = paint('bold', printableCut(inWords('pattern', kind), 60));
  const by = tool === undefined ? [] : [printableCut(tool, 60)];
  if (change === 'cleared') return `  ${paint('green', '△ over:')} ${[name, ...by].join(', ')}`;
  const style = level === 'strong' ? 'red' : 'yellow';
  const facts = [...by, `seen ${countOf(occurrences, 'time')} since call ${callNumber(firstSeen)}`];
  return `  ${paint(style, `▲ ${change === 'raised' ? 'worse, ' : stuck ? 'stuck, ' : ''}${inWords('level', level)}:`)} ${name}, ${facts.join(', ')}`;
}

function adviceLines({ source, provider, severity, text }: AdviceEvent, options: LiveTextOptions): readonly string[] {
  const { paint, width, wrap } = options;
  const style = SEVERITY_STYLE[severity];
  const textLines = text.slice(0, MAX_TEXT_CHARS).split('\n').map(printable);
  const lines = wrap ? textLines.flatMap((line) => wrapped(line, Math.max(MIN_CALL_CHARS, width - 7))) : textLines;
  return [
    `    ${paint(style, '▸')} ${paint('bold', printableCut(provider, 80))} ${paint('dim', `${source}, ${severity}`)}`,
    ...lines.map((line) => `    ${paint(style, '│')}${line === '' ? '' : ` ${line}`}`),
  ];
}

/** Wraps a line at blanks. A word longer than `width` gets a separate line. */
function wrapped(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else {
      current = current === '' ? word : `${current} ${word}`;
    }
  }
  return [...lines, current];
}
