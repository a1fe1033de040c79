/**
 * Prints the types in signatures of the built package that no entry point exports, so users cannot name them. The exit code is 1 if there
 * are any. Exempt: generic aliases, bases of interfaces, tables read with `typeof`, and the parts of snapshots, which are opaque.
 */
import { globSync, readFileSync } from 'node:fs';

import { parseSync, Visitor } from 'rolldown/utils';

interface Declaration {
  readonly file: string;
  readonly isGenericAlias: boolean;
  readonly references: ReadonlySet<string>;
}

const declarations = new Map<string, Declaration>();
const exported = new Set<string>();
for (const file of globSync('dist/**/*.d.ts')) {
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  const isEntry = !file.includes('chunks');
  for (const statement of program.body) {
    const isExport = statement.type === 'ExportNamedDeclaration';
    if (isExport && isEntry)
      for (const { local } of statement.specifiers) if (local.type === 'Identifier') exported.add(local.name);
    const declared = isExport ? statement.declaration : statement;
    for (const part of declared?.type === 'VariableDeclaration' ? declared.declarations : [declared]) {
      if (part === null || !('id' in part) || part.id?.type !== 'Identifier') continue;
      const { name } = part.id;
      if (isExport && isEntry) exported.add(name);
      const isGenericAlias = part.type === 'TSTypeAliasDeclaration' && part.typeParameters !== null;
      const references = new Set<string>();
      let bases = 0;
      new Visitor({
        TSInterfaceHeritage: () => {
          bases += 1;
        },
        'TSInterfaceHeritage:exit': () => {
          bases -= 1;
        },
        TSTypeReference: ({ typeName }) => {
          if (bases === 0 && typeName.type === 'Identifier') references.add(typeName.name);
        },
      }).visit({ ...program, body: [statement] });
      declarations.set(name, { file, isGenericAlias, references });
    }
  }
}

const users = new Map([...exported].map((name) => [name, '']));
for (const [name] of users) {
  const { isGenericAlias = true, references = [] } = declarations.get(name) ?? {};
  if (name.endsWith('Snapshot') || (isGenericAlias && !exported.has(name))) continue;
  for (const reference of references)
    if (!users.has(reference) && declarations.get(reference)?.isGenericAlias === false) users.set(reference, name);
}
const unnamed = [...users].filter(([name]) => !exported.has(name));
for (const [name, user] of unnamed) console.log(`${declarations.get(name)?.file}: ${name}, in ${user}`);
console.log(`types without an export  ${unnamed.length}`);
process.exitCode = unnamed.length === 0 ? 0 : 1;
