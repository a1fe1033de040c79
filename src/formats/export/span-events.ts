import { adviceOf } from '../../core/records/derived-payload.ts';
import { callNumber } from '../../core/base/call-number.ts';
import { present } from '../../core/base/json.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { AdviceAcknowledged, FeedbackProduced, GuidanceProduced } from '../../core/records/trajectory-record.ts';
import { inWords } from '../../core/records/words.ts';
import { changeOf } from '../../core/facts/seen-pattern.ts';
import type { SpanAttributes } from './run-span.ts';

/** Returns the attributes of a pattern that was flagged, raised or cleared. */
export function patternAttributes(pattern: TrajectoryPattern): SpanAttributes {
  const { clearedAt, firstSeen, identity, kind, level, occurrences, stuck, tool } = pattern;
  return {
    'coxswain.pattern.kind': kind,
    'coxswain.pattern.identity': identity,
    'coxswain.pattern.text': inWords('pattern', kind),
    'coxswain.pattern.change': clearedAt === undefined ? changeOf(pattern) : 'cleared',
    'coxswain.pattern.level': level,
    'coxswain.pattern.stuck': stuck,
    'coxswain.pattern.occurrences': occurrences,
    'coxswain.pattern.first_call': callNumber(firstSeen),
    ...present({ 'coxswain.pattern.tool': tool }),
  };
}

/** Returns the attributes of a piece of advice. @param hasContent  false: omits the text, which may quote a result */
export function adviceAttributes(payload: FeedbackProduced | GuidanceProduced, hasContent: boolean): SpanAttributes {
  const { pattern, severity, speaker, text } = adviceOf(payload);
  return {
    'coxswain.advice.id': payload.advice_id,
    'coxswain.advice.speaker': speaker,
    'coxswain.advice.provider': payload.provider_name,
    ...present({
      'coxswain.advice.text': hasContent ? text : undefined,
      'coxswain.advice.severity': severity,
      'coxswain.pattern.identity': pattern?.identity,
    }),
  };
}

export interface AdviceDelivery {
  readonly delivered: boolean;
  readonly channel?: string;
  readonly reason?: string;
}

export function deliveryAttributes(id: string, { channel, delivered, reason }: AdviceDelivery): SpanAttributes {
  return {
    'coxswain.advice.id': id,
    'coxswain.advice.delivered': delivered,
    ...present({ 'coxswain.advice.channel': channel, 'coxswain.advice.reason': reason }),
  };
}

export function acknowledgedAttributes({ advice_id: id, response }: AdviceAcknowledged): SpanAttributes {
  return { ...present({ 'coxswain.advice.id': id }), 'coxswain.advice.response': response };
}
