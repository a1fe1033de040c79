import type { JsonObject } from '../src/core/base/json.ts';
import type { TrajectoryPattern } from '../src/core/records/trajectory-pattern.ts';
import type { SteeringStart, TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';

/** The figures that every reader must report for a run. */
export interface RunFigures {
  readonly calls: number;
  readonly errors: number;
  readonly turns: number;
  /** Null while the run is open. */
  readonly outcome: string | null;
  readonly success: boolean | null;
  readonly reward: number | null;
  /** Kinds from `warn` up, each once, in alphabetical order. */
  readonly patterns: readonly string[];
  /** Pieces of advice, and those of them that reached the agent. */
  readonly advice: number;
  readonly delivered: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
}

/** A run that is easy to misread, and its figures, counted by hand. */
export interface HardRun {
  readonly id: string;
  readonly records: readonly TrajectoryRecord[];
  readonly figures: RunFigures;
}

const START_MS = Date.UTC(2026, 10, 20, 8);
const STEERING: SteeringStart = { prompt_name: 'default', configuration_hash: 'c0ffee', mode: 'steer' };
const PLAIN: RunFigures = {
  calls: 0,
  errors: 0,
  turns: 0,
  outcome: null,
  success: null,
  reward: null,
  patterns: [],
  advice: 0,
  delivered: 0,
  tokens: null,
  costUsd: null,
};
const TURN: TrajectoryPayload = { kind: 'turn_started' };
const RESUMED: TrajectoryPayload = { kind: 'run_resumed', trigger: 'resume' };

function started(id: string, tool = 'read_file', args: JsonObject = { path: `src/${id}.ts` }): TrajectoryPayload {
  return { kind: 'tool_started', tool_call_id: id, tool_name: tool, args };
}

function ended(id: string, isError = false, tool = 'read_file'): TrajectoryPayload {
  const result = isError ? 'Error: no such file' : `contents of ${id}`;
  return { kind: 'tool_ended', tool_call_id: id, tool_name: tool, result, is_error: isError };
}

function finished(
  outcome: string,
  rest: { readonly success?: boolean; readonly reward?: number } = {},
): TrajectoryPayload {
  return { kind: 'run_ended', outcome, new_messages: [], ...rest };
}

function spoke(inputTokens: number, costUsd: number): TrajectoryPayload {
  const usage = { input_tokens: inputTokens, output_tokens: 5, cost_usd: costUsd };
  return { kind: 'message_appended', message: { role: 'assistant', content: 'next', usage } };
}

function ownPattern(kind: string, change: Partial<TrajectoryPattern> = {}): TrajectoryPattern {
  return {
    kind,
    identity: `${kind}:1`,
    stuck: true,
    level: 'warn',
    confidence: 0.9,
    tool: 'bash',
    evidence: [0, 1],
    firstSeen: 0,
    flaggedAt: 1,
    occurrences: 2,
    ...change,
  };
}

function feedback(adviceId: string, pattern?: TrajectoryPattern): TrajectoryPayload {
  return {
    kind: 'feedback_produced',
    cause_seq: 0,
    ordinal: 0,
    advice_id: adviceId,
    provider_name: 'own-feedback',
    feedback: {
      summary: 'The same build again.',
      observations: [],
      suggestions: [],
      severity: 'caution',
      atMs: START_MS,
      callIndex: 2,
      promptName: 'default',
      ...(pattern === undefined
        ? {}
        : { pattern: { identity: pattern.identity, level: pattern.level, occurrences: pattern.occurrences } }),
    },
    text: 'The same build again.',
  };
}

function delivery(adviceId: string, delivered: boolean, reason?: string): TrajectoryPayload {
  return {
    kind: 'feedback_delivered',
    advice_id: adviceId,
    provider_name: 'own-feedback',
    delivered,
    ...(reason === undefined ? {} : { reason }),
  };
}

interface Script {
  readonly id: string;
  readonly payloads: readonly TrajectoryPayload[];
  readonly steering?: SteeringStart;
  readonly parentId?: string;
  /** Milliseconds of each payload after the start; default a second apart. */
  readonly atMs?: readonly number[];
}

function recordsOf({ atMs = [], id, parentId, payloads, steering }: Script): readonly TrajectoryRecord[] {
  const depth = parentId === undefined ? 0 : 1;
  const parent = parentId === undefined ? {} : { parent_run_id: parentId };
  const first: TrajectoryPayload = {
    kind: 'run_started',
    identity: { run_id: id, depth, ...parent },
    task: `task of ${id}`,
    ...(steering === undefined ? {} : { steering }),
  };
  const records: TrajectoryRecord[] = [];
  let nextSeq = 0;
  for (const [index, payload] of [first, ...payloads].entries()) {
    const seq = nextSeq;
    const stored = payload.kind === 'gap' ? { ...payload, through_seq: seq + payload.through_seq } : payload;
    nextSeq = (stored.kind === 'gap' ? stored.through_seq : seq) + 1;
    const afterMs = index === 0 ? 0 : (atMs[index - 1] ?? 1000 * index);
    records.push({
      schema_version: 1,
      seq,
      run_id: id,
      ...parent,
      depth,
      recorded_at_unix_ms: START_MS + afterMs,
      payload: stored,
    });
  }
  return records;
}

/** Stands for as many lost records after it as `lost` says. */
function gapOf(lost: number): TrajectoryPayload {
  return { kind: 'gap', through_seq: lost, reason: 'the disk was full' };
}

function sameBuild(count: number): readonly TrajectoryPayload[] {
  return Array.from({ length: count }, (_, index): readonly TrajectoryPayload[] => [
    TURN,
    started(`make-${index}`, 'bash', { command: 'make all' }),
    { kind: 'tool_ended', tool_call_id: `make-${index}`, tool_name: 'bash', result: 'make: no rule', is_error: true },
  ]).flat();
}

/** Runs in which records are lost, repeated, or contradict an earlier one. Every reader has to give the same figures for each. */
export function hardRuns(): readonly HardRun[] {
  const loop = ownPattern('own_loop');
  const left = ownPattern('own_drift', { identity: 'own_drift:1', stuck: false, evidence: [2], firstSeen: 2 });
  const runs: readonly (Script & { readonly figures: Partial<RunFigures> })[] = [
    {
      id: 'resumed-lost-start',
      payloads: [
        TURN,
        started('a'),
        ended('a'),
        started('b'),
        ended('b'),
        finished('aborted'),
        RESUMED,
        TURN,
        started('c'),
        ended('c'),
        ended('lost', true),
      ],
      figures: { calls: 4, errors: 1, turns: 2 },
    },
    {
      id: 'truncated',
      payloads: [TURN, started('a'), ended('a'), TURN, started('b'), started('c')],
      figures: { calls: 3, turns: 2 },
    },
    {
      id: 'gap-over-starts-and-ends',
      payloads: [
        TURN,
        started('a'),
        gapOf(6),
        ended('x', true),
        ended('y'),
        started('z'),
        ended('z'),
        finished('ended'),
      ],
      figures: { calls: 4, errors: 1, turns: 1, outcome: 'ended' },
    },
    {
      id: 'lost-starts-only',
      payloads: [ended('x', true), ended('y', true), ended('z')],
      figures: { calls: 3, errors: 2 },
    },
    {
      id: 'ended-twice',
      payloads: [started('a'), ended('a'), finished('ended', { success: true, reward: 1 }), finished('limit')],
      figures: { calls: 1, outcome: 'limit' },
    },
    {
      id: 'ended-resumed-ended',
      payloads: [
        started('a'),
        ended('a'),
        finished('error', { success: false, reward: 0 }),
        RESUMED,
        started('b'),
        ended('b'),
        finished('ended', { success: true, reward: 0.5 }),
      ],
      figures: { calls: 2, outcome: 'ended', success: true, reward: 0.5 },
    },
    {
      id: 'resumed-while-open',
      payloads: [started('a'), ended('a'), RESUMED, started('b'), ended('b', true)],
      figures: { calls: 2, errors: 1 },
    },
    {
      id: 'call-open-across-end',
      payloads: [started('a'), finished('aborted'), RESUMED, ended('a'), finished('ended')],
      figures: { calls: 1, outcome: 'ended' },
    },
    {
      id: 'repeated-call-ids',
      payloads: [started('a'), started('a'), ended('a'), ended('a', true), started('a'), ended('a')],
      figures: { calls: 4, errors: 1 },
    },
    {
      id: 'result-missing',
      payloads: [
        started('a'),
        {
          kind: 'tool_ended',
          tool_call_id: 'a',
          tool_name: 'read_file',
          result: null,
          is_error: false,
          result_missing: true,
        },
        started('b'),
        ended('b'),
      ],
      figures: { calls: 2 },
    },
    {
      id: 'own-detectors',
      steering: STEERING,
      payloads: [
        ...sameBuild(2),
        { kind: 'pattern_flagged', cause_seq: 6, ordinal: 0, pattern: loop },
        { kind: 'evaluation', point: 'post_tool_result' },
        feedback('f1', loop),
        delivery('f1', true),
        spoke(100, 0.25),
        ...sameBuild(4),
        { kind: 'pattern_flagged', cause_seq: 6, ordinal: 0, pattern: left },
        { kind: 'pattern_cleared', cause_seq: 7, ordinal: 0, pattern: { ...left, clearedAt: 5 } },
        feedback('f2'),
        delivery('f2', false, 'the channel was closed'),
        feedback('f3'),
        spoke(50, 0.5),
      ],
      figures: {
        calls: 6,
        errors: 6,
        turns: 6,
        patterns: ['own_drift', 'own_loop'],
        advice: 3,
        delivered: 1,
        tokens: 160,
        costUsd: 0.75,
      },
    },
    {
      id: 'shadow-without-patterns',
      steering: { ...STEERING, mode: 'shadow' },
      payloads: [...sameBuild(6), feedback('s1'), delivery('s1', false, 'shadow mode'), finished('ended')],
      figures: { calls: 6, errors: 6, turns: 6, outcome: 'ended', advice: 1 },
    },
    {
      id: 'stuck-not-steered',
      payloads: sameBuild(6),
      figures: { calls: 6, errors: 6, turns: 6, patterns: ['repeated_error'] },
    },
    {
      id: 'child',
      parentId: 'truncated',
      payloads: [started('a'), ended('a', true), finished('ended', { success: false })],
      figures: { calls: 1, errors: 1, outcome: 'ended', success: false },
    },
    {
      id: 'clock-set-back',
      payloads: [started('a'), ended('a'), started('b'), ended('b')],
      atMs: [60_000, 90_000, 5_000, 6_000],
      figures: { calls: 2 },
    },
    { id: 'nothing-but-a-start', payloads: [], figures: {} },
  ];
  return runs.map((run) => ({ id: run.id, records: recordsOf(run), figures: { ...PLAIN, ...run.figures } }));
}
