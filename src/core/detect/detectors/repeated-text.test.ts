import { expect, test } from 'vitest';
import { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';
import type { PatternDetector } from '../patterns/pattern-detector.ts';
import type { TrajectoryPayload } from '../../records/trajectory-record.ts';
import { paragraphsOf, repeatedTextDetector } from './repeated-text.ts';

const PLAN =
  'I will first read the configuration of the server, then change the port that it listens on, and after that restart the service and look at its log.';
const OTHER =
  'The log names a missing certificate, so the next thing to find out is which file the service expects, and who is allowed to read it there.';

type Said = string | { readonly user: string } | { readonly thought: string };

interface Setting {
  /** Between two records; 0: the source has no times. */
  readonly minutes?: number;
  /** Each text comes with a call that reads something new; default: with a call that fails. */
  readonly reads?: boolean;
}

function analysisOf(
  said: readonly Said[],
  detectors: readonly PatternDetector[],
  { minutes = 0, reads = false }: Setting = {},
): TrajectoryAnalysis {
  const analysis = new TrajectoryAnalysis({ detectors });
  const payloads = said.flatMap((text, at): readonly TrajectoryPayload[] => {
    const call = { tool_call_id: `${at}`, tool_name: 'read' };
    const message =
      typeof text === 'string'
        ? ({ role: 'assistant', content: text } as const)
        : 'user' in text
          ? ({ role: 'user', content: text.user } as const)
          : ({ role: 'assistant', content: [{ type: 'reasoning', text: text.thought }] } as const);
    return [
      { kind: 'message_appended', message },
      { kind: 'tool_started', ...call, args: { at } },
      { kind: 'tool_ended', ...call, result: `text ${at}`, is_error: !reads },
    ];
  });
  for (const [seq, payload] of payloads.entries())
    analysis.fold({ schema_version: 1, seq, depth: 0, recorded_at_unix_ms: minutes * 60_000 * (seq + 1), payload });
  return analysis;
}

function kindsOf(said: readonly Said[], setting?: Setting): readonly string[] {
  const patterns = analysisOf(said, [repeatedTextDetector()], setting).patterns();
  return patterns.filter(({ flaggedAt }) => flaggedAt !== null).map(({ kind }) => kind);
}

test('the same paragraph is flagged at the third time, in answers and in visible thinking', () => {
  expect(kindsOf([PLAN, PLAN])).toEqual([]);
  expect(kindsOf([PLAN, { thought: PLAN }, `Good.\n\n${PLAN.replace('first', 'now')}`])).toEqual(['repeated_text']);
  expect(kindsOf([`${PLAN}\n\n${PLAN}\n\n${PLAN}`])).toEqual(['repeated_text']);
});

test('other paragraphs, short ones, and a user in between are not flagged', () => {
  expect(kindsOf([PLAN, OTHER, PLAN, OTHER])).toEqual([]);
  expect(kindsOf([PLAN, PLAN, { user: 'Go on.' }, PLAN])).toEqual([]);
  expect(kindsOf(Array.from({ length: 6 }, () => 'Let me read the next file of this folder.'))).toEqual([]);
  const far = [PLAN, ...Array.from({ length: 5 }, (_, at) => `${at}`)];
  expect(kindsOf([...far, ...far, ...far])).toEqual([]);
});

test('the same words between calls that bring something new are a manner of speaking', () => {
  expect(kindsOf([PLAN, PLAN, PLAN, PLAN], { reads: true })).toEqual([]);
});

test('an answer that a program asks for again and again with the same words is flagged, and one after a long rest is not', () => {
  const again: readonly Said[] = [{ user: 'Check your answer once more.' }, PLAN];
  expect(kindsOf([...again, ...again])).toEqual([]);
  expect(kindsOf([...again, ...again, ...again])).toEqual(['repeated_text']);
  expect(kindsOf([...again, ...again, ...again], { minutes: 60 })).toEqual([]);
});

test('lists, tables, headings, quotations and code are no prose', () => {
  const structured = [
    `\`\`\`ts\n${PLAN}\n\`\`\``,
    `| a | ${PLAN} |`,
    `- ${PLAN}`,
    `1. ${PLAN}`,
    `# ${PLAN}`,
    `> ${PLAN}`,
    `The page says "${PLAN}"`,
  ];
  expect(structured.flatMap((text) => paragraphsOf(text))).toEqual([]);
  expect(paragraphsOf(`${PLAN}\n\n${OTHER}`)).toHaveLength(2);
});

test('an analysis that continues from its snapshot finds the same', () => {
  const first = analysisOf([PLAN, PLAN], [repeatedTextDetector()]);
  const analysis = new TrajectoryAnalysis({ detectors: [repeatedTextDetector()], snapshot: first.snapshot() });
  const message = { role: 'assistant', content: PLAN } as const;
  const changes = analysis.fold({
    schema_version: 1,
    seq: 9,
    depth: 0,
    recorded_at_unix_ms: 0,
    payload: { kind: 'message_appended', message },
  });
  expect(changes).toMatchObject([
    { type: 'noticed', pattern: { kind: 'repeated_text', occurrences: 3, evidence: [0, 1], flaggedAt: 1 } },
  ]);
});

test('a detector that throws at a text is disabled and reported', () => {
  const faulty: PatternDetector = {
    name: 'faulty',
    start: () => ({
      observe: () => undefined,
      read: () => {
        throw new Error('no');
      },
      snapshot: () => null,
    }),
  };
  expect(analysisOf([PLAN, PLAN], [faulty]).faults).toEqual([{ detector: 'faulty', callIndex: 0, message: 'no' }]);
});
