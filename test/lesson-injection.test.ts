import { describe, expect, test } from 'vitest';

import { FailedCallsFold } from '../src/core/facts/failed-calls.ts';
import { LessonsFold } from '../src/core/facts/lessons.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import {
  KnownLessons,
  knownLessons,
  lessonGuidance,
  LessonsKnown,
  type KnownLesson,
} from '../src/core/steering/guidance/lesson-guidance.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { INJECTIONS, leakedPieces } from './support/injections.ts';

interface Call {
  readonly tool?: string;
  readonly args: Readonly<Record<string, string>>;
  readonly error?: string;
}

/** What later agents may be told after four sessions with these calls. */
function toldAfter(...calls: readonly Call[]): readonly KnownLesson[] {
  const lessons = new LessonsFold();
  for (const session of [1, 2, 3, 4]) {
    const fold = new FailedCallsFold();
    const spent = { activeMs: 0, callMs: 0, costUsd: 0, tokens: 0 };
    for (const [index, { args, error, tool = 'Bash' }] of calls.entries()) {
      const failed = error !== undefined;
      const ended = { kind: 'tool_ended', tool_call_id: `${index}`, tool_name: tool, is_error: failed } as const;
      const call = { id: `${index}`, number: index + 1, tool, args, seq: index, startLost: false };
      const now = { cause: error, atMs: 1000 * session + index, ...spent };
      fold.fold({ ...ended, result: error ?? '' }, { ...call, failed, resultMissing: false }, now);
    }
    const { failures } = fold;
    const place = { id: `s${session}`, project: '/w', source: '', startedAtMs: session };
    lessons.add({ ...place, failures, keys: fold.keys, instructions: [] });
  }
  return knownLessons(lessons.lessons().lessons);
}

function runKnowing(lessons: readonly KnownLesson[]): Run {
  const coxswain = createCoxswain({
    store: memoryStore(),
    guidance: [{ provider: lessonGuidance(), maxPerRun: 1 }],
    slices: [KnownLessons],
  });
  const run = coxswain.startRun();
  run.dispatch(LessonsKnown({ lessons }));
  return run;
}

function textsFor(lessons: readonly KnownLesson[]): readonly string[] {
  const run = runKnowing(lessons);
  return [1, 2].flatMap(() => run.advise('pre_tool_selection').map(({ text }) => text));
}

const FIX: Call = { args: { command: 'bun run test' } };

test('a lesson is told once, with the call, a class, counts and what worked instead', () => {
  const told = toldAfter({ args: { command: 'rtk bun run test' }, error: "unrecognized subcommand 'bun'" }, FIX);
  const texts = textsFor(told);
  expect(texts).toHaveLength(1);
  expect(texts[0]).toContain(
    'In 4 earlier sessions of this project `rtk bun` failed: unknown subcommand or option. `bun run test` worked instead in 4.',
  );
});

describe.each(INJECTIONS)('%s', (_name, text) => {
  test('no character of a result reaches a later agent, whatever failed', () => {
    const command = { command: 'rtk bun run test' };
    const error = `unrecognized subcommand 'bun': ${text}`;
    const plain = textsFor(toldAfter({ args: command, error: "unrecognized subcommand 'bun'" }, FIX));
    const texts = textsFor(toldAfter({ args: command, error }, FIX));
    expect(leakedPieces(texts, text, plain)).toEqual([]);
  });

  test('of a planted call at most two words are told, and a planted fix is not', () => {
    const planted = toldAfter(
      { args: { command: text }, error: text },
      { args: { command: `rtk bun ${text}` }, error: `bun: ${text}` },
      { tool: 'Skill', args: { skill: text }, error: `Unknown skill: ${text}` },
      { args: { command: `bun ${text}` } },
    );
    for (const { call, instead } of planted) {
      const free = call.split(' ').filter((word) => text.includes(word));
      expect(free.length).toBeLessThanOrEqual(2);
      expect(call.length).toBeLessThanOrEqual(80);
      expect(instead?.call ?? '').not.toContain('qzorvex');
    }
  });

  test('a planted record of lessons is not said', () => {
    const lesson = { call: text, why: 'missing script', sessions: 9 } as const;
    const fix = { call: 'rtk bun', why: 'missing script', sessions: 9, instead: { call: text, sessions: 9 } } as const;
    expect(
      leakedPieces(textsFor([lesson, fix]), text, textsFor([{ ...fix, instead: { call: 'a', sessions: 2 } }])),
    ).toEqual([]);
  });
});

test('three lessons have at most 400 characters', () => {
  const lesson = { call: `${'a'.repeat(20)} b`, why: 'unknown subcommand or option', sessions: 100 } as const;
  const long = { ...lesson, instead: { call: `${lesson.call} run`, sessions: 99 } };
  const lessons = [long, long, long];
  const [text = ''] = textsFor(lessons);
  expect(/In 100 .*/s.exec(text)?.[0].length).toBeLessThanOrEqual(400);
});
