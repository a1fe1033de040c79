import { present } from '../../core/base/json.ts';
import type { LineImporter } from '../../formats/importer.ts';
import { stopReason, type HookDialect, type HostName } from './hook-dialect.ts';

/**
 * The dialect of opencode and pi. Their plugins send events in the format that `readPayload` reads, and deliver the text of
 * the answer.
 */
export function pluginDialect(host: HostName, importer?: LineImporter): HookDialect {
  return {
    host,
    ...present({ importer }),
    events: [],
    isFrom: (json) => json['host'] === host,
    toPayload: (json) => json,
    toAnswer(answer) {
      const text = stopReason(answer);
      return text === '' ? {} : { text };
    },
  };
}
