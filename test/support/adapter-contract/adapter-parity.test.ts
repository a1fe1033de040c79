import { describe, expect, test } from 'vitest';

import { adapterParity } from './adapter-parity.ts';
import { plainAgentHarness, plainHarness } from '../plain-agent-harness.ts';
import { steerPlainAgent } from '../steer-plain-agent.ts';

adapterParity([plainAgentHarness, { ...plainAgentHarness, name: 'plain agent again' }], { describe, test, expect });

test('an adapter that reports no failures is detected', async () => {
  const bodies: (() => Promise<void>)[] = [];
  const register = Object.assign((_name: string, body: () => Promise<void>) => void bodies.push(body), {
    skip: () => undefined,
  });
  const deaf = plainHarness((run, options) => {
    const right = steerPlainAgent(run, options);
    return {
      ...right,
      onToolEnd: (call, result, isError) => (isError ? result : (right.onToolEnd?.(call, result, isError) ?? result)),
    };
  });
  adapterParity([plainAgentHarness, deaf], { describe: (_name, body) => body(), test: register, expect });
  const outcomes = await Promise.all(bodies.map((body) => body().then(() => 'passed', String)));
  const [own, deafs] = [outcomes.slice(0, outcomes.length / 2), outcomes.slice(outcomes.length / 2)];
  expect(new Set(own)).toEqual(new Set(['passed']));
  expect(deafs.filter((outcome) => outcome.includes('AssertionError'))).toHaveLength(2);
});
