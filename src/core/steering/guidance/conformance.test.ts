/** One test for each sentence of the guidance specification that states behaviour. */
import { describe, expect, test } from 'vitest';
import { DECISION_POINTS, type DecisionPoint } from '../../records/spoken-advice.ts';
import { definePrompt } from '../prompt/define-prompt.ts';
import {
  type GuidanceContext,
  type GuidanceProvider,
  type GuidanceProviderConfig,
  resolveGuidanceConfig,
} from '../prompt/guidance-provider.ts';
import { guidanceContext, sayingProvider, type ScriptedCall } from '../../../../test/support/guidance-script.ts';
import {
  askProvider,
  guidanceCandidate,
  collectGuidance,
  formatGuidance,
  EMPTY_GUIDANCE_STATE,
  evaluateGuidance,
} from './evaluate-guidance.ts';
import { consultationPrompt, diagnosticSignal, doomLoopGuidance, parallelToolReminder } from './built-in-guidance.ts';
import { GuidanceDelivered, GuidanceDeliveredEvent } from './guidance-slices.ts';

const failed: ScriptedCall = { failed: true, result: 'Error: it broke' };
const many = (count: number, call: ScriptedCall): readonly ScriptedCall[] => Array.from({ length: count }, () => call);

/** Guidance of a provider after these calls. */
function guidanceOf(
  provider: GuidanceProvider,
  calls: readonly ScriptedCall[],
  decisionPoint: DecisionPoint = 'post_tool_result',
): string | undefined {
  return formatGuidance(collectGuidance(guidanceContext({ calls, providers: [{ provider }], decisionPoint })));
}

function keysOf(providers: readonly GuidanceProviderConfig[]): readonly string[] {
  return collectGuidance(guidanceContext({ providers })).map((injection) => injection.key);
}

describe('core types', () => {
  test('GuidanceInjection: priority, lower = higher priority, default 100', () => {
    const draft: GuidanceProvider = { ...sayingProvider('plain'), provide: () => ({ key: 'plain', content: 'x' }) };
    const providers = [
      { provider: sayingProvider('p101', { priority: 101 }) },
      { provider: draft },
      { provider: sayingProvider('p99', { priority: 99 }) },
    ];
    expect(keysOf(providers)).toEqual(['p99', 'plain', 'p101']);
  });

  test('GuidanceContext: session, prompt, rendered state, trajectory, pending calls, last response, both counts', () => {
    let seen: GuidanceContext | undefined;
    const provider: GuidanceProvider = {
      ...sayingProvider('a'),
      classify(context) {
        seen = context;
        return { relevant: false, confidence: 0 };
      },
    };
    const prompt = definePrompt({ ns: 'agent', key: 'main', guidanceProviders: [{ provider }] });
    const pendingToolCalls = [{ toolCallId: 'c1', toolName: 'grep', args: { pattern: 'x' } }];
    const renderedPrompt = prompt.render();
    const context: GuidanceContext = {
      ...guidanceContext({ calls: [{}, {}], lastResponse: 'done', pendingToolCalls, renderedPrompt, turnCount: 2 }),
      prompt,
    };
    collectGuidance(context);
    expect(seen).toBe(context);
    expect(seen).toMatchObject({
      lastResponse: 'done',
      turnCount: 2,
      toolCallCount: 2,
      pendingToolCalls,
      renderedPrompt,
    });
    expect(seen?.trajectory.calls).toBe(2);
  });

  test('ClassificationResult: an explanation is optional', () => {
    const provider: GuidanceProvider = {
      ...sayingProvider('a'),
      classify: () => ({ relevant: true, confidence: 0.5, reason: 'because' }),
    };
    const answer = askProvider({ provider }, guidanceContext());
    expect(answer).toMatchObject({ item: { classification: { relevant: true, confidence: 0.5, reason: 'because' } } });
  });

  test('GuidanceProviderConfig: max injections per turn default 3, threshold default 0.5', () => {
    expect(resolveGuidanceConfig({ provider: sayingProvider('a') })).toMatchObject({
      maxPerTurn: 3,
      minConfidence: 0.5,
    });
  });
});

describe('decision points', () => {
  test('there are five: before rendering, selection, execution, after a result, before the response', () => {
    expect(DECISION_POINTS).toEqual([
      'pre_render',
      'pre_tool_selection',
      'pre_tool_execution',
      'post_tool_result',
      'pre_response',
    ]);
  });

  test.each(DECISION_POINTS)('a provider without decision points runs at %s', (decisionPoint) => {
    expect(guidanceOf(sayingProvider('a'), [], decisionPoint)).toBe('a says so');
  });

  test('PRE_RENDER: added to render context', () => {
    const prompt = definePrompt({
      ns: 'agent',
      key: 'main',
      sections: [
        { key: 'always', text: 'Base.' },
        { key: 'tools', text: 'Tools.', enabled: ({ guidance }) => guidance.some((one) => one.category === 'tools') },
      ],
    });
    const providers = [{ provider: sayingProvider('a', { category: 'tools' }) }];
    const guidance = collectGuidance(guidanceContext({ providers }), { decisionPoint: 'pre_render' });
    expect(prompt.render({}, { guidance }).sections).toEqual(['always', 'tools']);
    expect(prompt.render().sections).toEqual(['always']);
  });
});

describe('execution flow', () => {
  test('for each configured provider, classify is called, and provide only if relevant with enough confidence', () => {
    const log: string[] = [];
    const logging = (name: string, relevant: boolean, confidence: number): GuidanceProviderConfig => ({
      provider: {
        ...sayingProvider(name),
        classify() {
          log.push(`${name} classify`);
          return { relevant, confidence };
        },
        provide() {
          log.push(`${name} provide`);
          return { key: name, content: name };
        },
      },
    });
    keysOf([logging('no', false, 1), logging('unsure', true, 0.49), logging('sure', true, 0.5)]);
    expect(log).toEqual(['no classify', 'unsure classify', 'sure classify', 'sure provide']);
  });

  test('if relevant and confidence >= threshold: the threshold is inclusive', () => {
    const at = (confidence: number): GuidanceProviderConfig => ({
      provider: sayingProvider('a', { confidence }),
      minConfidence: 0.7,
    });
    expect([keysOf([at(0.7)]), keysOf([at(0.6999)])]).toEqual([['a'], []]);
  });

  test('sort injections by priority', () => {
    const priorities = { a: 3, b: 1, c: 2, d: 1 };
    const providers = Object.entries(priorities).map(([name, priority]) => ({
      provider: sayingProvider(name, { priority }),
    }));
    const context = guidanceContext({ providers });
    expect(collectGuidance(context, { maxGuidancePerTurn: 4 }).map((one) => one.key)).toEqual(['b', 'd', 'c', 'a']);
  });

  test('apply max_per_turn limit', () => {
    const context = guidanceContext({ providers: [{ provider: sayingProvider('a'), maxPerTurn: 2 }] });
    const counts = [1, 1, 1, 2].map((turnCount) => collectGuidance({ ...context, turnCount }).length);
    expect(counts).toEqual([1, 1, 0, 1]);
  });

  test('guidance not persisted to history: the prompt and the tool calls of the session stay as they are', () => {
    const prompt = definePrompt({ ns: 'agent', key: 'main', sections: [{ key: 'a', text: 'Base.' }] });
    const context = guidanceContext({ providers: [{ provider: sayingProvider('a') }] });
    const before = [prompt.render().text, context.trajectory.calls, context.session.snapshot().slices['tool-invoked']];
    expect(collectGuidance(context)).toHaveLength(1);
    const after = [prompt.render().text, context.trajectory.calls, context.session.snapshot().slices['tool-invoked']];
    expect(after).toEqual(before);
  });
});

describe('built-in providers', () => {
  test('DiagnosticSignalProvider: trigger after N consecutive errors, default 3, and suggest the tool', () => {
    const text = 'Found 3 new console errors. Use the view_logs tool to examine before continuing.';
    expect(guidanceOf(diagnosticSignal(), many(3, failed))).toBe(text);
    expect(guidanceOf(diagnosticSignal(), many(2, failed))).toBeUndefined();
    expect(guidanceOf(diagnosticSignal(), [...many(2, failed), {}, failed])).toBeUndefined();
    expect(guidanceOf(diagnosticSignal({ errorThreshold: 1, logToolName: 'tail' }), [failed])).toBe(
      'Found 1 new console error. Use the tail tool to examine before continuing.',
    );
  });

  test('DoomLoopDetector: trigger after N similar sequences', () => {
    const text =
      'Detected repeated unsuccessful pattern. Consider a different approach or consult the planning tool to reassess strategy.';
    const same: ScriptedCall = { tool: 'run', args: { command: 'make all' }, ...failed };
    expect(guidanceOf(doomLoopGuidance(), many(3, same))).toBe(text);
    expect(guidanceOf(doomLoopGuidance(), many(2, same))).toBeUndefined();
    expect(guidanceOf(doomLoopGuidance({ maxRepetitions: 2 }), many(2, same))).toBe(text);
  });

  test('ConsultationPromptProvider: failed attempts before suggesting, default 5', () => {
    const text =
      'Multiple attempts unsuccessful. Consider using request_review to get fresh perspective from specialized agent.';
    expect(guidanceOf(consultationPrompt(), many(5, failed))).toBe(text);
    expect(guidanceOf(consultationPrompt(), many(4, failed))).toBeUndefined();
    expect(guidanceOf(consultationPrompt({ failureThreshold: 1, consultationTool: 'ask_human' }), [failed])).toBe(
      'Multiple attempts unsuccessful. Consider using ask_human to get fresh perspective from specialized agent.',
    );
  });

  test('ParallelToolReminder: trigger after N sequential single-tool calls, default 3', () => {
    const text = 'Multiple independent operations detected. Consider executing tools in parallel for efficiency.';
    expect(guidanceOf(parallelToolReminder(), [{}, {}, {}])).toBe(text);
    expect(guidanceOf(parallelToolReminder(), [{}, {}])).toBeUndefined();
    expect(guidanceOf(parallelToolReminder({ sequentialThreshold: 2 }), [{}, {}])).toBe(text);
  });

  test('every built-in declares where it speaks, and a configuration may say otherwise', () => {
    const builtIns = [diagnosticSignal(), doomLoopGuidance(), consultationPrompt(), parallelToolReminder()];
    expect(builtIns.map(({ name, category, decisionPoints }) => [name, category, decisionPoints?.length])).toEqual([
      ['diagnostic_signal', 'diagnostic', 3],
      ['doom_loop', 'loop', 3],
      ['consultation_prompt', 'consultation', 3],
      ['parallel_tool_reminder', 'efficiency', 2],
    ]);
    expect(guidanceOf(diagnosticSignal(), many(3, failed), 'pre_render')).toBeUndefined();
    const config: GuidanceProviderConfig = { provider: diagnosticSignal(), decisionPoints: ['pre_render'] };
    const context = guidanceContext({ calls: many(3, failed), providers: [config] });
    expect(collectGuidance(context, { decisionPoint: 'pre_render' })).toHaveLength(1);
    expect(collectGuidance(context, { decisionPoint: 'post_tool_result' })).toHaveLength(0);
  });

  test('most important guidance first within limit: the loop, the errors, then the consultation', () => {
    const same: ScriptedCall = { tool: 'run', args: { command: 'make all' }, ...failed };
    const providers = [consultationPrompt(), diagnosticSignal(), doomLoopGuidance()].map((provider) => ({ provider }));
    const keys = collectGuidance(guidanceContext({ calls: many(5, same), providers })).map((one) => one.key);
    expect(keys).toEqual(['loop.doom-loop', 'diagnostic.errors', 'consultation.fresh-perspective']);
  });
});

describe('prompt and adapter integration', () => {
  test('configure at template level', () => {
    const guidanceProviders = [
      { provider: diagnosticSignal({ errorThreshold: 3 }), maxPerTurn: 1 },
      { provider: doomLoopGuidance({ windowSize: 5 }), minConfidence: 0.7 },
    ];
    const prompt = definePrompt({ ns: 'agent', key: 'main', guidanceProviders });
    const same: ScriptedCall = { tool: 'run', args: { command: 'make all' }, ...failed };
    const context: GuidanceContext = { ...guidanceContext({ calls: many(3, same) }), prompt };
    const guidance = collectGuidance(context, { decisionPoint: 'pre_tool_execution' });
    expect(formatGuidance(guidance)).toBe(
      'Detected repeated unsuccessful pattern. Consider a different approach or consult the planning tool to reassess strategy.\n\n' +
        'Found 3 new console errors. Use the view_logs tool to examine before continuing.',
    );
  });

  test('if guidance: no guidance is no text', () => {
    expect(formatGuidance([])).toBeUndefined();
  });
});

describe('state management', () => {
  test('GuidanceDelivered: source provider, what, where, why and when, and here also whether and how', () => {
    const context = guidanceContext({ calls: many(3, failed) });
    const evaluation = evaluateGuidance([{ provider: diagnosticSignal() }], context, EMPTY_GUIDANCE_STATE);
    const produced = evaluation.produced[0];
    expect(produced).toBeDefined();
    if (produced === undefined) return;
    const record = { ...produced, atMs: 5, delivered: false, reason: 'no channel here' };
    context.session.register(GuidanceDelivered);
    context.session.dispatch(GuidanceDeliveredEvent(record));
    expect(context.session.slice(GuidanceDelivered).latest()).toEqual({
      providerName: 'diagnostic_signal',
      injection: {
        key: 'diagnostic.errors',
        content: 'Found 3 new console errors. Use the view_logs tool to examine before continuing.',
        priority: 20,
        category: 'diagnostic',
      },
      decisionPoint: 'pre_tool_selection',
      classification: { relevant: true, confidence: 0.75, reason: '3 failed calls in a row' },
      atMs: 5,
      delivered: false,
      reason: 'no channel here',
    });
  });
});

describe('design rationale', () => {
  test('category separation: avoid conflicting guidance from same category', () => {
    const providers = [
      { provider: sayingProvider('second', { priority: 2, category: 'x' }) },
      { provider: sayingProvider('first', { priority: 1, category: 'x' }) },
      { provider: sayingProvider('other', { priority: 3, category: 'y' }) },
    ];
    expect(keysOf(providers)).toEqual(['first', 'other']);
  });

  test('classifiers are stateless: the same context gives the same answer', () => {
    const context = guidanceContext({ calls: many(4, failed) });
    for (const provider of [diagnosticSignal(), doomLoopGuidance(), consultationPrompt(), parallelToolReminder()]) {
      const first = provider.classify(context);
      provider.classify(guidanceContext());
      expect(provider.classify(context)).toEqual(first);
    }
  });

  test('complementary to feedback: guidance on a pattern goes to the ledger under the pattern’s identity', () => {
    const same: ScriptedCall = { args: { path: 'a' }, result: 'the same content again' };
    const context = guidanceContext({ calls: many(3, same) });
    const configs = [{ provider: doomLoopGuidance() }, { provider: sayingProvider('plain') }];
    const [loop, plain] = evaluateGuidance(configs, context, EMPTY_GUIDANCE_STATE).produced.map(guidanceCandidate);
    expect(loop).toMatchObject({ source: 'guidance', level: 'warn', occurrences: 3, severity: 'caution' });
    expect(loop?.identity).toBe(context.trajectory.openPatterns()[0]?.identity);
    expect(plain).toEqual({ source: 'guidance', provider: 'plain', identity: 'guidance:plain', severity: 'info' });
  });
});
