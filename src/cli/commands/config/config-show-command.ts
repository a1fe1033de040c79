import { isJsonObject, memberAt } from '../../../core/base/json.ts';
import { countOf } from '../../../core/base/number-text.ts';
import { configFields } from '../../../hosts/config/decode-config.ts';
import type { CoxswainConfig } from '../../../hosts/config/coxswain-config.ts';
import { loadConfig } from '../../../hosts/config/load-config.ts';
import { shownAddress } from '../../../stores/store-address.ts';
import type { Shape } from '../../../core/base/shape.ts';
import { jsonLine, printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export async function configShowCommand(
  options: { readonly config?: string; readonly set?: boolean; readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { config, problems } = await loadConfig({ projectFolder: process.cwd(), explicitPath: options.config });
  if (problems.length > 0) {
    terminal.complain(`coxswain: ${countOf(problems.length, 'problem')}; coxswain config check lists them`);
  }
  const shownConfig = withoutSecrets(config);
  if (options.json === true) await terminal.write(jsonLine(shownConfig));
  else for (const line of fieldLines(shownConfig, options.set === true, terminal)) await terminal.write(line);
  return problems.length === 0 ? 0 : 1;
}

function withoutSecrets(config: CoxswainConfig): CoxswainConfig {
  const { redaction, store } = config;
  return {
    ...config,
    ...(redaction?.key === undefined ? {} : { redaction: { ...redaction, key: '(not shown)' } }),
    ...(store?.address === undefined ? {} : { store: { address: shownAddress(store.address) } }),
  };
}

function fieldLines(config: CoxswainConfig, onlySet: boolean, { paint }: Terminal): readonly string[] {
  const fields = configFields().filter(
    ({ path, shape }) => !/\[\]|\*/.test(path) && shape.kind !== 'object' && path !== '$schema',
  );
  const width = Math.max(...fields.map(({ path }) => path.length));
  return fields.flatMap(({ path, shape }) => {
    const value = memberAt(config, path.split('.'));
    if (isJsonObject(value) && shape.kind === 'either') return [];
    if (value !== undefined)
      return [`${path.padEnd(width)}  ${paint('bold', printableCut(JSON.stringify(value), 200))}\n`];
    const defaultValue = defaultOf(shape);
    return onlySet || defaultValue === undefined
      ? []
      : [`${path.padEnd(width)}  ${paint('dim', `${defaultValue} (default)`)}\n`];
  });
}

function defaultOf(shape: Shape): string | undefined {
  if (shape.kind === 'either') return shape.shapes.map(defaultOf).find((text) => text !== undefined);
  return 'default' in shape && shape.default !== undefined ? JSON.stringify(shape.default) : undefined;
}
