import { DECISION_POINTS, type DecisionPoint } from '../../../src/core/records/spoken-advice.ts';
import type { TrajectoryRecord } from '../../../src/core/records/trajectory-record.ts';
import type { AdapterHarness } from './adapter-harness.ts';
import { playScene, type Scene } from './adapter-player.ts';
import { ABORTED, STRUCTURED } from './contract-scenes.ts';
import { textOfContent } from '../../../src/core/records/agent-message.ts';
import type { ContractTools } from './contract-tools.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import {
  scriptedAnswer,
  type ModelCall,
  type ModelFunction,
  type ModelScript,
} from '../../../src/testing/model-script.ts';
import type { ScriptedTools } from './scripted-toolbox.ts';

/** Delay of each response on the fake clock, in seconds. */
const ANSWER_SECONDS = 5;

/**
 * Registers tests that compare adapters. A scripted run uses the standard steering, two guidance providers and no limit per run.
 * Each adapter must produce the same patterns and advice.
 */
export function adapterParity(harnesses: readonly AdapterHarness[], { describe, test, expect }: ContractTools): void {
  const points = sharedPoints(harnesses);
  const sequential = new Map<AdapterHarness, Promise<PlayedAlike>>();
  const parallel = new Map<AdapterHarness, Promise<PlayedAlike>>();
  const playOnce = (harness: AdapterHarness, outcomes: typeof sequential): Promise<PlayedAlike> => {
    const script = outcomes === sequential ? SEQUENTIAL_LOOP : PARALLEL_LOOP;
    const outcome = outcomes.get(harness) ?? playAlike(harness, script, points);
    outcomes.set(harness, outcome);
    return outcome;
  };

  describe('the adapters agree', () => {
    for (const harness of harnesses) {
      const [first = harness] = harnesses;

      test(`${harness.name}: calls one after the other give the same patterns and the same advice at the same calls`, async () => {
        const [expected, found] = [await playOnce(first, sequential), await playOnce(harness, sequential)];
        expect(found.ended).toBe('normally');
        expect(byCall(found)).toEqual(byCall(expected));
        // Checks that the script produces every kind of item.
        expect(kindsOf(expected)).toEqual(['feedback', 'guidance', 'pattern']);
      });

      test(`${harness.name}: parallel calls give the same set of advice in each turn`, async () => {
        const [expected, found] = [await playOnce(first, parallel), await playOnce(harness, parallel)];
        expect(found.ended).toBe('normally');
        expect(byTurn(found)).toEqual(byTurn(expected));
        expect(kindsOf(expected)).toEqual(['feedback', 'guidance', 'pattern']);
      });

      for (const [about, scene] of Object.entries(ALIKE)) {
        const check = scene.structured === true && harness.structuresByTool === true ? test.skip : test;
        check(`${harness.name}: ${about} is recorded alike`, async () => {
          const [expected, found] = [await factsOf(first, scene), await factsOf(harness, scene)];
          expect(found).toEqual(expected);
        });
      }
    }
  });
}

/** Scenes of which every adapter records the same facts. */
const ALIKE: Readonly<Record<string, Scene>> = {
  'an abort of the user': ABORTED,
  'a structured answer': STRUCTURED,
};

/** The facts of a run that do not depend on the SDK. */
async function factsOf(harness: AdapterHarness, scene: Scene): Promise<object> {
  const { standardSteering } = await import('../../../src/core/steering/standard-steering.ts');
  const { records } = await playScene(harness, scene, standardSteering());
  const plainName = plainNames(harness);
  const facts = { turns: 0, calls: [] as string[], texts: [] as string[], output: 0, said: [] as string[], end: '' };
  for (const { payload } of records) {
    if (payload.kind === 'tool_ended') facts.calls.push(`${plainName(payload.tool_name)} ${payload.outcome ?? 'ran'}`);
    if (payload.kind === 'feedback_produced') facts.said.push(payload.text);
    if (payload.kind === 'run_ended') facts.end = `${payload.outcome} ${payload.reason ?? ''}`.trim();
    if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') continue;
    // Some adapters keep what arrived of an answer that broke off.
    if (payload.message.error_message === undefined) facts.turns += 1;
    facts.output += payload.message.usage?.output_tokens ?? 0;
    const text = textOfContent(payload.message.content);
    if (text !== '') facts.texts.push(text);
  }
  return facts;
}

/** A pattern or a piece of advice. */
interface ParityItem {
  readonly call: number;
  /** Number of the turn of its call, from 1; 0 before the first turn. */
  readonly turn: number;
  readonly kind: 'pattern' | 'feedback' | 'guidance';
  readonly what: string;
  /** Depends on the order in which parallel calls finish. */
  readonly where: string;
}

interface PlayedAlike {
  readonly ended: unknown;
  readonly items: readonly ParityItem[];
}

/** Returns the decision points that every adapter supports and at which no adapter forces a turn. */
function sharedPoints(harnesses: readonly AdapterHarness[]): readonly DecisionPoint[] {
  return DECISION_POINTS.filter((point) =>
    harnesses.every(({ capabilities }) => {
      const { persistence, timing } = capabilities[point];
      return persistence !== 'unsupported' && timing !== 'forces-turn';
    }),
  );
}

async function playAlike(
  harness: AdapterHarness,
  script: ModelScript,
  points: readonly DecisionPoint[],
): Promise<PlayedAlike> {
  const clock = createFakeClock();
  const tools: ScriptedTools = {
    look: (args) => `It is quiet at ${JSON.stringify(args)}.`,
    boom: () => {
      throw new Error('the kettle exploded');
    },
  };
  // The clock only advances while the model responds, because SDKs may run tools sequentially or in parallel.
  const slowModel: ModelFunction = (request, index) => {
    clock.advance(ANSWER_SECONDS);
    return scriptedAnswer(script, request, index);
  };
  const scene: Scene = { prompt: 'Look until you see something.', script: slowModel, tools };
  const { doomLoopGuidance } = await import('../../../src/core/steering/guidance/built-in-guidance.ts');
  const { diagnosticSignal } = await import('../../../src/core/steering/guidance/built-in-guidance.ts');
  const { standardSteering } = await import('../../../src/core/steering/standard-steering.ts');
  const guidance = [diagnosticSignal(), doomLoopGuidance()].map((provider) => ({ provider, maxPerTurn: 1 }));
  const steering = { ...standardSteering(), guidance, noise: {}, clock };
  const { ended, records } = await playScene(harness, scene, steering, { deadline: { minutes: 2 } });
  return { ended, items: readRecords(records, harness, points) };
}

function readRecords(
  records: readonly TrajectoryRecord[],
  harness: AdapterHarness,
  points: readonly DecisionPoint[],
): readonly ParityItem[] {
  const items: ParityItem[] = [];
  const plainName = plainNames(harness);
  let [call, turn] = [0, 0];
  const addItem = (kind: ParityItem['kind'], what: string, where: string): void => {
    items.push({ call, turn, kind, what: plainName(what), where: plainName(where) });
  };
  for (const { payload } of records) {
    if (payload.kind === 'tool_ended') {
      call += 1;
      turn = turnOf(payload.tool_call_id);
    }
    if (payload.kind === 'evaluation') turn = turnOf(payload.pending_calls?.[0]?.tool_call_id) || turn;
    if (payload.kind === 'pattern_flagged') {
      const { kind, level, stuck, tool = '', evidence, firstSeen, occurrences } = payload.pattern;
      addItem('pattern', [kind, level, stuck, tool].join(' '), [...evidence, firstSeen, occurrences].join(' '));
    }
    if (payload.kind === 'feedback_produced') addItem('feedback', payload.text, payload.provider_name);
    if (payload.kind === 'guidance_produced' && points.includes(payload.decision_point)) {
      addItem('guidance', payload.injection.content, `${payload.provider_name} at ${payload.decision_point}`);
    }
  }
  return items;
}

/** Returns the turn number in a call id. The format is `call_TURN_CALL`. */
function turnOf(callId: string | undefined): number {
  return Number(callId?.split('_')[1] ?? 0);
}

/** Replaces the tool names of the SDK by the names in the scene. */
function plainNames({ toolNameOf }: AdapterHarness): (text: string) => string {
  return (text) =>
    ['look', 'boom'].reduce(
      (result, name) => result.replaceAll(toolNameOf?.(name) ?? name, name),
      // Advice quotes the error line as the SDK formats it. Some SDKs add this prefix.
      // The Claude Agent SDK takes the tools from an MCP server, and advice says so.
      text.replaceAll('"Error: ', '"').replaceAll('one MCP tool', 'one tool'),
    );
}

function byCall({ items }: PlayedAlike): readonly string[] {
  return items.map(({ call, kind, what, where }) => `after call ${call} ${kind} ${what} (${where})`);
}

/** Returns the items sorted by turn. The order within a turn is ignored. */
function byTurn({ items }: PlayedAlike): readonly string[] {
  return items.map(({ turn, kind, what }) => `in turn ${turn} ${kind} ${what}`).toSorted();
}

function kindsOf({ items }: PlayedAlike): readonly string[] {
  return [...new Set(items.map(({ kind }) => kind))].toSorted();
}

function lookCall(place: number): ModelCall {
  return { name: 'look', args: { at: place } };
}

const BOOM: ModelCall = { name: 'boom', args: {} };

function loopOf(...turns: readonly (readonly ModelCall[])[]): ModelScript {
  return { turns: [...turns.map((calls) => ({ calls })), { text: 'I see nothing.' }] };
}

/** A successful start, then the same call seven times, then a failing tool five times. */
const SEQUENTIAL_LOOP: ModelScript = loopOf(
  [lookCall(1)],
  [lookCall(2)],
  ...Array.from({ length: 7 }, () => [lookCall(3)]),
  ...Array.from({ length: 5 }, () => [BOOM]),
);

/**
 * The same two parallel calls several times, then two failing parallel calls. The script ends before advice is due a second time,
 * because that turn depends on whether the SDK runs the calls in parallel.
 */
const PARALLEL_LOOP: ModelScript = loopOf(
  [lookCall(1), lookCall(2)],
  ...Array.from({ length: 5 }, () => [lookCall(3), lookCall(4)]),
  ...Array.from({ length: 3 }, () => [BOOM, { ...BOOM, args: { at: 1 } }]),
);
