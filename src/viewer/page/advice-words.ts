import { inWords } from '../../core/records/words.ts';
import type { DecisionPoint } from '../../core/records/spoken-advice.ts';
import type { AdviceMark } from '../server/api-shapes.ts';

export function deliveryOf(mark: AdviceMark): { readonly text: string; readonly className: '' | 'good' | 'bad' } {
  if (mark.delivered === true) return { text: 'delivered', className: 'good' };
  if (mark.delivered === null) return { text: 'delivery unknown', className: '' };
  if (mark.delivery === 'withheld') return { text: 'withheld', className: '' };
  if (mark.delivery === 'shadowed') return { text: 'shadow', className: '' };
  return { text: 'not delivered', className: 'bad' };
}

export const FATE_CLASSES: Readonly<Record<AdviceMark['nextCall'], '' | 'good' | 'bad' | 'stuck'>> = {
  repeated: 'bad',
  'same-failure': 'bad',
  refused: 'bad',
  'other-failure': 'stuck',
  succeeded: 'good',
  open: '',
  none: '',
};

export const POINT_WORDS: Readonly<Record<DecisionPoint, string>> = {
  pre_render: 'before the prompt',
  pre_tool_selection: 'before choosing tools',
  pre_tool_execution: 'before the call ran',
  post_tool_result: 'with a result',
  pre_response: 'before the answer',
};

export function patternName(kind: string): string {
  return inWords('pattern', kind.slice(0, 60));
}
