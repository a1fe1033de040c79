import { expect, test } from 'vitest';
import { applyGates, askGate } from './apply-gates.ts';
import type { ModelRequest } from './sdk-shapes.ts';
import type { ToolGate } from './tool-gate.ts';

const place = { iteration: 2, modelId: 'm' };
const tools = [
  { type: 'function', name: 'read', inputSchema: {} },
  { type: 'provider', name: 'search', id: 'p.search', args: {} },
  { type: 'function', name: 'run', inputSchema: {} },
];

function requestWith(more: object = {}): ModelRequest {
  return { prompt: [], tools, ...more };
}

function gate(name: string, allow: readonly string[] | undefined): ToolGate {
  return { name, allow: () => allow };
}

function apply(request: ModelRequest, ...gates: readonly ToolGate[]): ReturnType<typeof applyGates> {
  return applyGates(request, gates, place, (one, available) => one.allow({ ...place, tools: available }));
}

test('tools that are not allowed are taken out, the others stay the objects they are', () => {
  const { request, events } = apply(requestWith(), gate('safe', ['search', 'read', 'gone']));
  expect(request['tools']).toEqual([tools[0], tools[1]]);
  expect(events).toEqual([
    { type: 'tool_gate_applied', iteration: 2, plugin: 'safe', allow: ['search', 'read', 'gone'] },
  ]);
});

test('a gate without an opinion leaves the request as it is, and no record', () => {
  const request = requestWith();
  expect(apply(request, gate('quiet', undefined))).toEqual({ request, events: [] });
  expect(apply(request).request).toBe(request);
});

test('a gate that allows everything is recorded and changes nothing', () => {
  const request = requestWith();
  const gated = apply(request, gate('open', ['read', 'search', 'run']));
  expect(gated.request).toBe(request);
  expect(gated.events).toHaveLength(1);
});

test('a conflict is recorded after the gates that caused it', () => {
  const { request, events } = apply(requestWith(), gate('one', ['read']), gate('two', ['run']));
  expect(request['tools']).toEqual([tools[0]]);
  expect(events.map(({ type }) => type)).toEqual([
    'tool_gate_applied',
    'tool_gate_applied',
    'tool_gate_conflict_resolved',
  ]);
  expect(events[2]).toMatchObject({ iteration: 2, plugins: ['one', 'two'], chosenPlugin: 'one', allow: ['read'] });
});

test('a tool choice that names a tool that is gone becomes auto; another stays', () => {
  const named = { type: 'tool', toolName: 'run' };
  expect(apply(requestWith({ toolChoice: named }), gate('a', ['read'])).request['toolChoice']).toEqual({
    type: 'auto',
  });
  expect(apply(requestWith({ toolChoice: named }), gate('a', ['run'])).request['toolChoice']).toEqual(named);
  const required = { type: 'required' };
  expect(apply(requestWith({ toolChoice: required }), gate('a', ['read'])).request['toolChoice']).toBe(required);
});

test('a request without tools is left alone', () => {
  expect(apply({ prompt: [] }, gate('a', ['read']))).toEqual({ request: { prompt: [] }, events: [] });
});

test('what is no list of names is a fault of the gate', () => {
  const context = { ...place, tools: [] };
  expect(askGate(gate('quiet', undefined), context)).toBeUndefined();
  expect(askGate(gate('safe', ['read']), context)).toEqual(['read']);
  // On purpose not what the type asks for.
  expect(askGate({ name: 'odd', allow: (() => ['read', 7]) as never }, context)).toEqual(['read']);
  expect(() => askGate({ name: 'wrong', allow: (() => 'read') as never }, context)).toThrow(
    'tool gate "wrong" must return a list of names, got string',
  );
});
