import { present } from '../../core/base/json.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { isLocked } from '../../stores/sqlite/sqlite-reader.ts';
import type { Problem } from './api-shapes.ts';

export type FaultReason =
  | 'forbidden'
  | 'no-session'
  | 'wrong-token'
  | 'not-found'
  | 'still-reading'
  | 'store-locked'
  | 'store-gone'
  | 'too-many';

export type FaultStatus = 400 | 401 | 403 | 404 | 409 | 410 | 413 | 500 | 503;

const STATUS: Readonly<Record<FaultReason, FaultStatus>> = {
  forbidden: 403,
  'no-session': 401,
  'wrong-token': 403,
  'not-found': 404,
  'still-reading': 503,
  'store-locked': 409,
  'store-gone': 410,
  'too-many': 503,
};

export function viewerFault(reason: FaultReason, message: string, fix?: string): CoxswainError {
  const code = reason === 'store-gone' || reason === 'store-locked' ? 'store-io' : 'invalid-argument';
  return new CoxswainError(code, message, { details: { reason, ...present({ fix }) } });
}

export function problemOf(thrown: unknown): { readonly problem: Problem; readonly status: FaultStatus } {
  const message = messageOf(thrown);
  if (isLocked(thrown)) {
    const fix = 'The viewer continues when the other process is done.';
    return { problem: { code: 'store-locked', message, fix }, status: 409 };
  }
  if (!(thrown instanceof CoxswainError)) return { problem: { code: 'fault', message }, status: 500 };
  const { code, details } = thrown;
  const { fix, reason } = details;
  const how = typeof fix === 'string' ? { fix } : {};
  if (isReason(reason)) return { problem: { code: reason, message, ...how }, status: STATUS[reason] };
  const isWrong = code === 'invalid-argument';
  const status = isWrong ? 400 : code === 'input-too-large' ? 413 : code === 'store-closed' ? 503 : 500;
  return { problem: { code, message, ...how }, status };
}

function isReason(value: unknown): value is FaultReason {
  return typeof value === 'string' && Object.hasOwn(STATUS, value);
}
