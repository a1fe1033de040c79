/**
 * A planner with three subagents that share its deadline and its budget.
 *
 *     node planner.ts
 */
import { createCoxswain, deadlineFeedback, paceFeedback, type Run } from 'coxswain';
import { createFakeClock } from 'coxswain/testing';

const clock = createFakeClock();
const everyCall = { everyNCalls: 1 };
const cox = createCoxswain({
  clock,
  feedback: [
    { provider: paceFeedback({ minCalls: 2, speakAtCallsLeft: 1 }), trigger: everyCall },
    { provider: deadlineFeedback(), trigger: everyCall },
  ],
});
const planner = cox.startRun({ agentName: 'planner', deadline: { minutes: 10 }, budget: { tokens: 1_000 } });
for (const agentName of ['reader', 'builder', 'tester']) work(planner.child({ agentName }));
console.log('All of them used', planner.usage);

// A real model would answer here, and call the tool.
function work(agent: Run): void {
  agent.emit({ type: 'message_end', message: { role: 'assistant', content: 'on it', usage: { inputTokens: 300 } } });
  for (const toolCallId of ['a', 'b']) {
    clock.advance(90);
    agent.emit({ type: 'tool_execution_start', toolCallId, toolName: 'look', args: {} });
    agent.emit({ type: 'tool_execution_end', toolCallId, toolName: 'look', result: 'seen', isError: false });
  }
  console.log(`${agent.agentName}: ${agent.feedback()?.split('\n')[2]}`);
}

// Prints:
// reader: You have 7 minutes remaining.
// builder: You have 4 minutes remaining.
// tester: At this rate the token budget does not last for another tool call.
// All of them used { calls: 6, tokens: 900 }
