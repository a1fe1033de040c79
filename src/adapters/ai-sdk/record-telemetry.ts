import { membersOf, isJsonObject } from '../../core/base/json.ts';
import { MAX_ADVICE_CHARS } from '../../core/steering/advice/advice.ts';
import { messageOf } from '../../core/base/error.ts';
import { guarded } from '../host/guarded.ts';
import { RunScope } from '../host/run-scope.ts';
import type { Coxswain } from '../../core/run/coxswain.ts';
import type { Run } from '../../core/run/run.ts';
import { AgentLoop, type PreparedRequest } from './agent-loop.ts';
import { readModelAnswer } from './read-answer.ts';
import { textField, type SdkFields } from './sdk-shapes.ts';

/** Handlers for the telemetry events of ai 7 that are recorded. The types of events are checked at run time. */
export interface RecordingTelemetry {
  onStart(event: unknown): void;
  onLanguageModelCallStart(event: unknown): void;
  onLanguageModelCallEnd(event: unknown): void;
  onToolExecutionStart(event: unknown): void;
  onToolExecutionEnd(event: unknown): void;
  onEnd(event: unknown): void;
  onAbort(event: unknown): void;
  onError(event: unknown): void;
  executeTool<Result>(call: {
    readonly callId: string;
    readonly execute: () => PromiseLike<Result>;
  }): PromiseLike<Result>;
}

interface RecordedLoop {
  readonly run: Run;
  readonly loop: AgentLoop;
  prepared: PreparedRequest | undefined;
  done: Promise<void>;
}

const LOOPS: ReadonlySet<unknown> = new Set(['ai.generateText', 'ai.streamText']);
const OPTIONS = { maxChars: MAX_ADVICE_CHARS };

/** Records every agent loop of the SDK as a run, and loops within tools as child runs. Gives no advice and changes nothing. */
export function recordingTelemetry(cox: Coxswain): RecordingTelemetry {
  const scope = new RunScope(() => cox.startRun());
  const loops = new WeakMap<Run, AgentLoop>();
  const calls = new Map<string, RecordedLoop>();
  const loopOf = (run: Run): AgentLoop => {
    const knownLoop = loops.get(run);
    if (knownLoop !== undefined) return knownLoop;
    const loop = new AgentLoop(run, guarded(run), OPTIONS);
    loops.set(run, loop);
    run.beforeEnd(() => loop.closing());
    return loop;
  };
  const onRecorded = (
    event: unknown,
    work: (recorded: RecordedLoop, event: SdkFields) => void | Promise<void>,
  ): void => {
    if (!isJsonObject(event)) return;
    const recordedLoop = calls.get(textField(event, 'callId'));
    if (recordedLoop === undefined) return;
    recordedLoop.done = recordedLoop.done
      .then(() => work(recordedLoop, event))
      .catch((error: unknown) => recordedLoop.run.reportFault('ai-sdk telemetry', error));
  };
  const endCall = (event: unknown, outcome?: string): void =>
    onRecorded(event, ({ run, loop, prepared }, fields) => {
      const { error } = fields;
      if (outcome !== undefined && prepared !== undefined) {
        const failure = outcome === 'aborted' ? new DOMException('aborted', 'AbortError') : error;
        loop.failed(prepared, failure);
      }
      calls.delete(textField(fields, 'callId'));
      // A child run ends with its tool.
      if (run.depth === 0) run.emit({ type: 'agent_end', ...(outcome === undefined ? {} : { outcome }) });
    });
  return {
    onStart(event) {
      if (!isJsonObject(event) || !LOOPS.has(event['operationId'])) return;
      const run = scope.asking;
      calls.set(textField(event, 'callId'), { run, loop: loopOf(run), prepared: undefined, done: Promise.resolve() });
    },
    onLanguageModelCallStart: (event) =>
      onRecorded(event, (recorded, { instructions, messages, tools, modelId }) => {
        const system = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
        const prompt = [...system, ...(Array.isArray(messages) ? (messages as readonly unknown[]) : [])];
        recorded.prepared = recorded.loop.prepare({ prompt, tools }, String(modelId));
      }),
    onLanguageModelCallEnd: (event) =>
      onRecorded(event, (recorded, { content, finishReason, usage, modelId }) => {
        const answer = readModelAnswer({ content, finishReason, usage, response: { modelId } });
        if (answer !== undefined && recorded.prepared !== undefined) recorded.loop.answered(recorded.prepared, answer);
        recorded.prepared = undefined;
      }),
    onToolExecutionStart: (event) =>
      onRecorded(event, ({ loop }, { toolCall }) => {
        const call = membersOf(toolCall);
        loop.calls.begin(textField(call, 'toolCallId'), textField(call, 'toolName'), call['input']);
      }),
    onToolExecutionEnd: (event) =>
      onRecorded(event, ({ loop }, { toolCall, toolOutput }) => {
        const id = isJsonObject(toolCall) ? textField(toolCall, 'toolCallId') : '';
        const output = membersOf(toolOutput);
        const isError = output['type'] === 'tool-error';
        loop.calls.end(id, isError ? messageOf(output['error']) : output['output'], isError);
      }),
    onEnd: (event) => endCall(event),
    onAbort: (event) => endCall(event, 'aborted'),
    onError: (event) => endCall(event, 'error'),
    executeTool: (call) => {
      const recordedLoop = calls.get(call.callId);
      const name = textField({ ...call }, 'toolName') || 'tool';
      return recordedLoop === undefined ? call.execute() : scope.within(recordedLoop.run, name, () => call.execute());
    },
  };
}
