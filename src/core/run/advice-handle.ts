import type { Severity, DecisionPoint, GuidanceInjection } from '../records/spoken-advice.ts';
import { joinAdvice, MAX_ADVICE_CHARS, severityOfLevel } from '../steering/advice/advice.ts';
import { guidanceText, type DerivedPayload } from '../records/derived-payload.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';

/** A single advice text to deliver. Only the first call of `delivered` or `undelivered` has an effect. */
export interface AdviceHandle {
  readonly id: string;
  readonly source: 'feedback' | 'guidance';
  /** The name of the provider or observer. */
  readonly provider: string;
  readonly severity: Severity;
  readonly text: string;
  readonly point: DecisionPoint;
  /** The guidance for `prompt.render({ guidance })` at `pre_render`. Absent for feedback. */
  readonly injection?: GuidanceInjection;
  /** Records that the agent received the advice. `channel`: how it was delivered, such as `tool-result`. */
  delivered(channel: string): void;
  /** Records that the advice could not be delivered to the agent. `reason`: a few words. */
  undelivered(reason: string): void;
}

export interface DeliverOptions {
  /** The delivery channel, such as `tool-result`. */
  readonly channel: string;
  /** Maximum characters; default 9,000. Advice that does not fit is left out as a whole and recorded as undelivered. */
  readonly maxChars?: number;
}

/** Joins advice texts, most severe first, and records each as delivered or undelivered. Returns undefined if there is no advice. */
export function deliverAdvice(handles: readonly AdviceHandle[], options: DeliverOptions): string | undefined {
  const placedAdvice = placeAdvice(handles, options.maxChars);
  placedAdvice?.delivered(options.channel);
  return placedAdvice?.text;
}

/** Advice joined into one text that is not delivered yet. Only the first report has an effect. */
export type PlacedAdvice = Pick<AdviceHandle, 'text' | 'delivered' | 'undelivered'>;

/** Joins advice texts, most severe first. Advice that does not fit is recorded as undelivered. Undefined if no advice is left. */
export function placeAdvice(
  handles: readonly AdviceHandle[],
  maxChars: number = MAX_ADVICE_CHARS,
): PlacedAdvice | undefined {
  const { text, included, omitted } = joinAdvice(handles, { maxChars });
  const settleAll = (verdict: (handle: AdviceHandle) => void): void => {
    for (const handle of included) verdict(handle);
    for (const handle of omitted) handle.undelivered(`no room in ${maxChars} characters`);
  };
  if (included.length === 0) {
    settleAll(() => undefined);
    return undefined;
  }
  return {
    text,
    delivered: (channel) => settleAll((handle) => handle.delivered(channel)),
    undelivered: (reason) => settleAll((handle) => handle.undelivered(reason)),
  };
}

export function adviceHandleOf(
  item: DerivedPayload,
  point: DecisionPoint,
  atMs: number,
  take: (payload: TrajectoryPayload) => void,
): AdviceHandle | undefined {
  if (item.kind === 'feedback_produced') {
    const { advice_id, provider_name, text } = item;
    const settle = settleOnce((delivered, delivery) =>
      take({ kind: 'feedback_delivered', advice_id, provider_name, delivered, ...delivery }),
    );
    const { severity } = item.feedback;
    return { id: advice_id, source: 'feedback', provider: provider_name, severity, text, point, ...settle };
  }
  if (item.kind === 'guidance_produced') {
    const { advice_id, provider_name, injection, classification } = item;
    const guidance = { providerName: provider_name, injection, decisionPoint: point, classification, atMs };
    const settle = settleOnce((delivered, delivery) =>
      take({ kind: 'guidance_delivered', advice_id, guidance: { ...guidance, delivered, ...delivery } }),
    );
    const level = classification.pattern?.level;
    const severity = level === undefined ? 'info' : severityOfLevel(level);
    const text = guidanceText(provider_name, injection.content);
    return { id: advice_id, source: 'guidance', provider: provider_name, severity, text, injection, point, ...settle };
  }
  return undefined;
}

function settleOnce(
  record: (delivered: boolean, how: { readonly channel?: string; readonly reason?: string }) => void,
): Pick<AdviceHandle, 'delivered' | 'undelivered'> {
  let isSettled = false;
  const settleHandle: typeof record = (delivered, delivery) => {
    if (isSettled) return;
    isSettled = true;
    record(delivered, delivery);
  };
  return {
    delivered: (channel) => settleHandle(true, { channel }),
    undelivered: (reason) => settleHandle(false, { reason }),
  };
}
