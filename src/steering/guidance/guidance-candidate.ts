import { type AdviceCandidate, severityOfLevel } from '../advice/advice.ts';
import type { Severity } from '../../records/feedback.ts';
import type { ProducedGuidance } from './ask-provider.ts';

/**
 * What the advice ledger must know of a piece of guidance. Guidance that rests on a pattern has the pattern's
 * identity, so that feedback and guidance do not both speak of it; other guidance has its provider's.
 */
export function guidanceCandidate(produced: ProducedGuidance): AdviceCandidate & { readonly severity: Severity } {
  const { pattern } = produced.classification;
  if (pattern === undefined) {
    return { source: 'guidance', identity: `guidance:${produced.providerName}`, severity: 'info' };
  }
  const { identity, level, occurrences } = pattern;
  return { source: 'guidance', identity, level, occurrences, severity: severityOfLevel(level) };
}
