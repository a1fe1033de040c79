import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

import { usageOfStored } from '../../adapters/host/content-blocks.ts';
import type { EndedCall, SessionAnswer, SessionPart, TranscriptCall } from '../../adapters/host/host-event.ts';
import { isJsonObject, jsonOf } from '../../core/base/json.ts';
import { present } from '../../core/base/present.ts';
import { textOfContent, type StoredMessage } from '../../core/records/stored-message.ts';
import type { ToolEnded, TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import type { LineImporter } from '../../formats/importer.ts';

/** A session file of a host, with one JSON object per line. */
export interface SessionFile {
  readonly path: string;
  readonly importer: LineImporter;
  /** The subagent whose answers are read; undefined for those of the session itself. */
  readonly agentId: string | undefined;
}

/**
 * Numbers of bytes that are read at the end of the file, one after the other, until a known answer is found. A file that is
 * longer than the last one, and has no known answer in it, loses the answers before.
 */
const READ_BYTES = [256 * 1024, 2 * 1024 * 1024, 16 * 1024 * 1024];

/**
 * Reads the answers at the end of a session file with the importer of its format. The first ones may be known, and the first
 * one may be incomplete. An incomplete last line waits for the next call. Returns no answers if the file is missing or
 * unusable.
 *
 * @param isKnown  returns true for an answer that the run has recorded; no answer before it is needed
 */
export function readSession(file: SessionFile, isKnown: (answer: SessionAnswer) => boolean): SessionPart {
  let part: SessionPart = { answers: [] };
  for (const bytes of READ_BYTES) {
    const tail = tailOf(file.path, bytes);
    part = partIn(tail.text, file);
    if (tail.isWhole || part.answers.some(isKnown)) break;
  }
  return part;
}

function partIn(text: string, { agentId, importer, path }: SessionFile): SessionPart {
  // A file may contain other runs too.
  const isRun = (runKey: string): boolean => runKey.includes('/') === (agentId !== undefined);
  const name = basename(path);
  const session = importer.open({ path, name });
  const answers = new Answers();
  let number = 0;
  for (const line of text.split('\n')) {
    const entry = jsonOf(line);
    if (!isJsonObject(entry)) continue;
    number += 1;
    for (const item of session.line(entry, number, line)) {
      if (item.type === 'record' && isRun(item.runKey)) answers.take(item.payload, item.atMs);
    }
  }
  for (const item of session.end()) {
    if (item.type === 'record' && isRun(item.runKey)) answers.take(item.payload, item.atMs);
  }
  return { answers: answers.list, ...present({ costUsd: answers.costUsd }) };
}

/** Groups the records of a run by answer of the model. */
class Answers {
  readonly list: SessionAnswer[] = [];
  costUsd: number | undefined;

  take(payload: TrajectoryPayload, atMs = 0): void {
    switch (payload.kind) {
      case 'turn_started':
        this.list.push({ atMs, text: '', calls: [], isWhole: false });
        return;
      case 'message_appended':
        if (payload.message.role === 'assistant') this.#hear(payload.message, atMs);
        else this.#replaceLast((answer) => ({ ...answer, isWhole: true }));
        return;
      case 'tool_started': {
        const { args, tool_call_id: id, tool_name: toolName } = payload;
        const call: TranscriptCall = { id, name: toolName, args, atMs };
        this.#replaceLast((answer) => ({ ...answer, calls: [...answer.calls, call] }));
        return;
      }
      case 'tool_ended':
        if (payload.result_missing !== true) this.#end(payload, atMs);
        return;
      case 'run_ended':
        this.costUsd = payload.usage?.cost_usd;
        return;
      default:
    }
  }

  #hear(message: Extract<StoredMessage, { readonly role: 'assistant' }>, atMs: number): void {
    const { content, error_message: error, model_id: modelId, stop_reason: stopReason, usage: stored } = message;
    // The host wrote it in place of an answer.
    if (error !== undefined) return;
    const usage = stored && usageOfStored(stored);
    this.#replaceLast((answer) => ({
      ...answer,
      ...present({ modelId, usage }),
      atMs,
      text: [answer.text, textOfContent(content)].filter((part) => part !== '').join('\n'),
      isWhole: stopReason !== undefined,
    }));
  }

  #end(payload: ToolEnded, endedAtMs: number): void {
    const { duration_ms: durationMs, is_error: isError, outcome, result, tool_call_id: id } = payload;
    const index = this.list.findLastIndex(({ calls }) => calls.some((call) => call.id === id));
    const answer = this.list[index];
    if (answer === undefined) return;
    const calls = answer.calls.map((call) => {
      if (call.id !== id) return call;
      const ended: EndedCall = { ...call, result, isError, ...present({ durationMs, outcome }), endedAtMs };
      return { ...call, ended };
    });
    this.list[index] = { ...answer, calls };
  }

  #replaceLast(change: (answer: SessionAnswer) => SessionAnswer): void {
    const last = this.list.pop();
    if (last !== undefined) this.list.push(change(last));
  }
}

/** The whole lines at the end of a regular file of this user. Never waits for a pipe. */
function tailOf(path: string, bytes: number): { readonly text: string; readonly isWhole: boolean } {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
    const facts = fstatSync(file);
    const isOwn = process.getuid === undefined || facts.uid === process.getuid();
    if (!facts.isFile() || !isOwn) return { text: '', isWhole: true };
    const start = Math.max(0, facts.size - bytes);
    const buffer = Buffer.alloc(facts.size - start);
    const text = buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, start));
    return { text: start === 0 ? text : text.slice(text.indexOf('\n') + 1), isWhole: start === 0 };
  } catch {
    // The event is then recorded without data of the session file.
    return { text: '', isWhole: true };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
