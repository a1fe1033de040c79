/** The parts of a syntax tree that the rule reads. */
interface SyntaxNode {
  readonly type: string;
  readonly name?: string;
  readonly object?: SyntaxNode;
  readonly property?: SyntaxNode;
  readonly callee?: SyntaxNode;
  readonly expression?: SyntaxNode;
  readonly argument?: SyntaxNode | null;
  readonly discriminant?: SyntaxNode;
  readonly cases?: readonly { readonly test: SyntaxNode | null; readonly consequent: readonly SyntaxNode[] }[];
}

interface RuleContext {
  readonly report: (problem: { readonly node: SyntaxNode; readonly message: string }) => void;
}

/**
 * Requires a `default` in a switch over record kinds to start with `passOver`, which lists the remaining kinds and does not
 * compile if one is missing. Without a `default`, `typescript/switch-exhaustiveness-check` requires every kind.
 */
function namesEveryKind({ report }: RuleContext): Readonly<Record<string, (node: SyntaxNode) => void>> {
  return {
    SwitchStatement: (node) => {
      if (!isPayloadKind(node.discriminant)) return;
      const fallback = node.cases?.find(({ test }) => test === null);
      if (fallback === undefined || isPassOver(fallback.consequent[0])) return;
      report({
        node,
        message: 'the default of a switch over record kinds must start with passOver and list the remaining kinds',
      });
    },
  };
}

/** `payload.kind`, `record.payload.kind`. */
function isPayloadKind(node: SyntaxNode | undefined): boolean {
  if (node?.property?.name !== 'kind') return false;
  return node.object?.name === 'payload' || node.object?.property?.name === 'payload';
}

function isPassOver(statement: SyntaxNode | undefined): boolean {
  const callee = (statement?.expression ?? statement?.argument)?.callee?.name;
  return callee === 'passOver' || callee === 'assertNever';
}

const plugin: { readonly meta: { readonly name: string }; readonly rules: Readonly<Record<string, object>> } = {
  meta: { name: 'records' },
  rules: { 'names-every-kind': { create: namesEveryKind } },
};
// A plugin is what its module exports by default.
// oxlint-disable-next-line import/no-default-export
export default plugin;
