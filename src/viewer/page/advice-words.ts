import { assertNever } from '../../core/base/error.ts';
import type { AdviceMark } from '../server/api-shapes.ts';

export function deliveryOf(mark: AdviceMark): { readonly text: string; readonly className: '' | 'good' | 'bad' } {
  if (mark.delivered === true) return { text: 'delivered', className: 'good' };
  if (mark.delivered === null) return { text: 'delivery unknown', className: '' };
  if (mark.delivery === 'withheld') return { text: 'withheld', className: '' };
  if (mark.delivery === 'shadowed') return { text: 'shadow', className: '' };
  return { text: 'not delivered', className: 'bad' };
}

export function fateClass(next: AdviceMark['nextCall']): '' | 'good' | 'bad' | 'stuck' {
  switch (next) {
    case 'repeated':
    case 'same-failure':
    case 'refused':
      return 'bad';
    case 'other-failure':
      return 'stuck';
    case 'succeeded':
      return 'good';
    case 'open':
    case 'none':
      return '';
    default:
      return assertNever(next);
  }
}

export function pointText(point: AdviceMark['point']): string {
  switch (point) {
    case 'pre_render':
      return 'before the prompt';
    case 'pre_tool_selection':
      return 'before choosing tools';
    case 'pre_tool_execution':
      return 'before the call ran';
    case 'post_tool_result':
      return 'with a result';
    case 'pre_response':
      return 'before the answer';
    case undefined:
      return '';
    default:
      return assertNever(point);
  }
}
