import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';

test.each([
  ['run_tests', { suite: 'all' }, "Error: Cannot find module 'foo'", 'A module is missing'],
  ['bash', { command: 'python a.py' }, "ModuleNotFoundError: No module named 'yaml'", 'A module is missing'],
  ['bash', { command: 'jq . a.json' }, 'bash: jq: command not found', 'No program has that name'],
])('%s that fails with %j is told what is missing', async (toolName, args, result, wayOut) => {
  const cox = createCoxswain();
  const run = cox.startRun();
  const texts: string[] = [];
  for (let call = 1; call <= 5; call += 1) {
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId: `c${call}`, toolName, args });
    run.emit({ type: 'tool_execution_end', toolCallId: `c${call}`, toolName, result, isError: true });
    for (const advice of run.advise('post_tool_result')) texts.push(advice.text);
  }
  await cox.close();
  expect(texts.join('\n')).toContain(wayOut);
});
