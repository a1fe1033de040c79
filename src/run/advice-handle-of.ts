import { present } from '../base/present.ts';
import { unitOf } from '../steering/holdout.ts';
import type { RunFold } from './run-fold.ts';
import { severityOfLevel } from '../steering/advice/advice.ts';
import type { AdviceHandle } from './advice-handle.ts';
import type { DerivedPayload } from '../records/derived-draft.ts';
import type { DecisionPoint, PatternReference } from '../records/guidance.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';

/** Where advice came up, and who takes the record of what became of it. */
interface AdviceOrigin {
  readonly point: DecisionPoint;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly take: (payload: TrajectoryPayload) => void;
}

/** The handle of what was produced, as a list of one; of a payload that is no advice, none. */
export function adviceHandleOf(item: DerivedPayload, origin: AdviceOrigin): readonly AdviceHandle[] {
  const { point, take } = origin;
  if (item.kind === 'feedback_produced') {
    const { advice_id, provider_name, text } = item;
    const settle = settler((delivered, how) =>
      take({ kind: 'feedback_delivered', advice_id, provider_name, delivered, ...how }),
    );
    const { severity } = item.feedback;
    return [{ id: advice_id, source: 'feedback', provider: provider_name, severity, text, point, ...settle }];
  }
  if (item.kind === 'guidance_produced') {
    const { advice_id, provider_name, injection, classification } = item;
    const { atMs } = origin;
    const guidance = { providerName: provider_name, injection, decisionPoint: point, classification, atMs };
    const settle = settler((delivered, how) =>
      take({ kind: 'guidance_delivered', advice_id, guidance: { ...guidance, delivered, ...how } }),
    );
    const level = classification.pattern?.level;
    const severity = level === undefined ? 'info' : severityOfLevel(level);
    const text = injection.content;
    const handle = { id: advice_id, source: 'guidance', provider: provider_name, severity, text } as const;
    return [{ ...handle, injection, point, ...settle }];
  }
  return [];
}

/** What an experiment draws together with a piece of advice. */
export function drawnUnit(
  item: DerivedPayload,
  { analysis, situation }: Pick<RunFold, 'analysis' | 'situation'>,
): string {
  const { stretch } = situation;
  const identity = patternOf(item)?.identity;
  // One that was seen again stands last.
  const pattern = identity === undefined ? undefined : analysis.patterns().findLast((one) => one.identity === identity);
  const providerName = 'provider_name' in item ? item.provider_name : '';
  const speaker = item.kind === 'feedback_produced' ? 'feedback' : 'guidance';
  return unitOf({ providerName, speaker, ...present({ pattern, stretch }) });
}

function patternOf(item: DerivedPayload): PatternReference | undefined {
  if (item.kind === 'feedback_produced') return item.feedback.pattern;
  return item.kind === 'guidance_produced' ? item.classification.pattern : undefined;
}

/** The two answers a host can give, of which the first counts. */
function settler(
  say: (delivered: boolean, how: { readonly channel?: string; readonly reason?: string }) => void,
): Pick<AdviceHandle, 'delivered' | 'undelivered'> {
  let settled = false;
  const settle = (delivered: boolean, how: { readonly channel?: string; readonly reason?: string }): void => {
    if (settled) return;
    settled = true;
    say(delivered, how);
  };
  return {
    delivered: (channel) => settle(true, { channel }),
    undelivered: (reason) => settle(false, { reason }),
  };
}
