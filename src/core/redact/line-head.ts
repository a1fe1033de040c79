/**
 * The prefix of a line by a tool: a line number (`cat -n`, `nl`, an agent's reading tool), file and number (`grep -n`), the head of a
 * log line, a bullet, a quotation mark, a diff sign, a comment.
 */
const LINE_HEAD = new RegExp(
  [
    String.raw`[ \t]{0,40}`,
    // file:12: or 12: or 12→ or 12 |
    String.raw`(?:(?:[\w./@~-]{1,200}[:-])?\d{1,7}(?::\d{1,7})?(?:[:\-|\u2192\t)]|[ \t]{1,8}\|?)[ \t]{0,8})?`,
    // Time, level and source of a log line.
    String.raw`(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]{0,12}(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]{1,8})?`,
    String.raw`(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./-]{1,64}(?:\[\d{1,8}\])?:[ \t]{1,8})?`,
    String.raw`(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|trace|debug|info|warn|error)\]?:?[ \t]{1,8}(?:\[[\w. :/-]{1,64}\]:?[ \t]{1,8})?)?`,
    String.raw`(?:[\w.-]{1,64}[ \t]{1,8}\|[ \t]{1,8})?`,
    String.raw`(?:(?:[-*+\u2022>#]|\/\/|\d{1,4}[.)])[ \t]{1,8}|[-+](?=[A-Za-z]))?`,
  ].join(''),
  'y',
);

/** The start of a line without the prefix of a tool. Cost: bounded. */
export function skipLineHead(text: string, start: number): number {
  LINE_HEAD.lastIndex = start;
  return LINE_HEAD.test(text) ? LINE_HEAD.lastIndex : start;
}
