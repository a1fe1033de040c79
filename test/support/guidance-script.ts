import type { Json } from '../../src/core/base/json.ts';
import { defaultDetectors } from '../../src/core/detect/detectors/default-detectors.ts';
import type { TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';
import { definePrompt } from '../../src/core/steering/prompt/define-prompt.ts';
import type {
  GuidanceContext,
  GuidanceProvider,
  GuidanceProviderConfig,
} from '../../src/core/steering/prompt/guidance-provider.ts';
import { createSession } from '../../src/core/session/create-session.ts';
import type { PatternDetector } from '../../src/core/detect/patterns/pattern-detector.ts';
import { TrajectoryAnalysis } from '../../src/core/detect/patterns/trajectory-analysis.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { scriptRun } from './script-records.ts';

/** A finished call of a scripted run. */
export interface ScriptedCall {
  /** Default `read_file`. */
  readonly tool?: string;
  /** Default: a path that no other call has. */
  readonly args?: Json;
  /** Default: a text that no other call has. */
  readonly result?: Json;
  /** Default false. */
  readonly failed?: boolean;
  /** Issued in the same turn as the previous call. Default: false. */
  readonly sameTurn?: boolean;
}

/** The analysis of a run of these calls. */
export function scriptAnalysis(
  calls: readonly ScriptedCall[],
  detectors: readonly PatternDetector[] = defaultDetectors(),
): TrajectoryAnalysis {
  const analysis = new TrajectoryAnalysis({ detectors });
  const payloads = calls.flatMap((call, index): TrajectoryPayload[] => {
    const id = { tool_call_id: `call-${index}`, tool_name: call.tool ?? 'read_file' };
    const args = call.args ?? { path: `file-${index}.txt` };
    const result = call.result ?? `content number ${index} of the file`;
    const next = calls.findIndex(({ sameTurn }, at) => at > index && sameTurn !== true);
    const turn = calls.slice(index, next === -1 ? undefined : next);
    // The message of the model announces all calls of the turn.
    const content = turn.map(({ tool = 'read_file' }, at) => ({
      type: 'tool_call' as const,
      id: `call-${index + at}`,
      name: tool,
      args: {},
    }));
    return [
      ...(call.sameTurn === true
        ? []
        : ([{ kind: 'turn_started' }, { kind: 'message_appended', message: { role: 'assistant', content } }] as const)),
      { kind: 'tool_started', ...id, args },
      { kind: 'tool_ended', ...id, result, is_error: call.failed ?? false },
    ];
  });
  for (const record of scriptRun('run', payloads)) analysis.fold(record);
  return analysis;
}

/** The parts of a context that a test sets; the rest has defaults. */
export interface ContextScript extends Partial<Omit<GuidanceContext, 'prompt' | 'session'>> {
  readonly session?: GuidanceContext['session'];
  readonly calls?: readonly ScriptedCall[];
  readonly providers?: readonly GuidanceProviderConfig[];
}

/** A context at `pre_tool_selection` after a scripted run, with a real session, prompt and analysis. */
export function guidanceContext(script: ContextScript = {}): GuidanceContext {
  const { calls = [], providers = [], ...given } = script;
  const trajectory = given.trajectory ?? scriptAnalysis(calls);
  return {
    session: createSession({ clock: createFakeClock() }),
    prompt: definePrompt({ ns: 'test', key: 'main', guidanceProviders: providers }),
    trajectory,
    pendingToolCalls: [],
    turnCount: trajectory.turns,
    toolCallCount: trajectory.calls,
    recentCalls: () => [],
    nowMs: 1_700_000_000_000,
    decisionPoint: 'pre_tool_selection',
    ...given,
  };
}

/** A provider that is always relevant and says `content`. */
export function sayingProvider(
  name: string,
  options: {
    readonly content?: string;
    readonly priority?: number;
    readonly category?: string;
    readonly confidence?: number;
  } = {},
): GuidanceProvider {
  const { content = `${name} says so`, priority = 100, category = name, confidence = 1 } = options;
  return {
    name,
    category,
    classify: () => ({ relevant: true, confidence }),
    provide: () => ({ key: name, content, priority, category }),
  };
}
