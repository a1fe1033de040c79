import { expect, test } from 'vitest';

import { coxswainAgent } from '../src/adapters/ai-sdk/coxswain-agent.ts';
import { claudeHooks } from '../src/adapters/claude/claude-hooks.ts';
import { observed } from '../src/adapters/claude/observed.ts';
import { coxswainMiddleware } from '../src/adapters/langchain/coxswain-middleware.ts';
import { anthropicSteering } from '../src/adapters/anthropic/anthropic-steering.ts';
import { googleGenAiSteering } from '../src/adapters/google-genai/google-genai-steering.ts';
import { coxswainMastra } from '../src/adapters/mastra/coxswain-mastra.ts';
import { coxswainAgents } from '../src/adapters/openai-agents/coxswain-agents.ts';
import { openaiSteering } from '../src/adapters/openai/openai-steering.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';

// Callers in plain JavaScript, which no compiler checks.
type Untyped = (...args: readonly unknown[]) => unknown;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const untyped = (adapter: unknown): Untyped => adapter as Untyped;
const handles = { createMiddleware: () => ({}), ToolMessage: Object, HumanMessage: Object };

const ADAPTERS: readonly (readonly [name: string, adapter: Untyped, between: readonly unknown[]])[] = [
  ['openaiSteering', untyped(openaiSteering), []],
  ['coxswainAgents', untyped(coxswainAgents), []],
  ['anthropicSteering', untyped(anthropicSteering), []],
  ['googleGenAiSteering', untyped(googleGenAiSteering), []],
  ['coxswainAgent', untyped(coxswainAgent), []],
  ['coxswainMastra', untyped(coxswainMastra), []],
  ['claudeHooks', untyped(claudeHooks), []],
  ['observed', untyped(observed), [[]]],
  ['coxswainMiddleware', untyped(coxswainMiddleware), [handles]],
];

test.each(ADAPTERS)('%s refuses an unknown option and a missing run', (name, adapter, between) => {
  const cox = createCoxswain();
  expect(() => adapter(cox.startRun(), ...between, { onErorr: 'throw' })).toThrow(
    `${name} has no member onErorr; did you mean onError?`,
  );
  expect(() => adapter(cox, ...between)).toThrow(`${name} needs a run, such as createCoxswain().startRun()`);
  expect(() => adapter(undefined, ...between)).toThrow(`${name} needs a run`);
});

test.each(ADAPTERS.filter(([name]) => name !== 'observed'))(
  'a run whose agent ran without %s ends with a fault that says how to use it',
  async (_name, adapter, between) => {
    const cox = createCoxswain();
    const run = cox.startRun();
    adapter(run, ...between);
    await run.end();
    expect(cox.health()).toMatchObject({
      faults: 1,
      lastFault: expect.stringMatching(/no (?:request|hook) .*: .*[({]/),
    });
  },
);

test('a run whose only request failed was seen, so it has no such fault', async () => {
  const cox = createCoxswain();
  const refuse = async (): Promise<never> => {
    throw new Error('refused');
  };
  const openai = cox.startRun();
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Go.' }] });
  const fetch = openaiSteering(openai).fetch(refuse);
  await expect(fetch('https://api.example/v1/chat/completions', { method: 'POST', body })).rejects.toThrow('refused');
  await openai.end();
  const langchain = cox.startRun();
  const request = { messages: [{ type: 'human', content: 'Go.' }], tools: [] };
  const createMiddleware = (parts: object): object => parts;
  const middleware = coxswainMiddleware(langchain, { ...handles, createMiddleware });
  const wrapModelCall = untyped(Reflect.get(middleware, 'wrapModelCall'));
  await expect(wrapModelCall(request, refuse)).rejects.toThrow('refused');
  await langchain.end();
  expect(cox.health()).toMatchObject({ faults: 0 });
});

test('a SQLite store refuses an unknown option and a missing path', () => {
  expect(() => untyped(sqliteStore)('runs.db', { fsnc: 'none' })).toThrow(
    'sqliteStore has no member fsnc; did you mean fsync?',
  );
  expect(() => untyped(sqliteStore)()).toThrow('a SQLite store needs the path of a file, got undefined');
});
