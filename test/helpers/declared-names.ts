import { readFileSync } from 'node:fs';
import ts from 'typescript';

const cache = new Map<string, ReadonlySet<string>>();

/** The names that a TypeScript file declares at its top level, and their members.
 *  @example `export interface SAPair { readonly step: number }`  →  SAPair, SAPair.step */
export function declaredNames(file: string): ReadonlySet<string> {
  const cached = cache.get(file);
  if (cached !== undefined) return cached;
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const names = new Set(source.statements.flatMap(namesOf));
  cache.set(file, names);
  return names;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => textOf(name));
  }
  if (ts.isFunctionDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
    return textOf(statement.name);
  }
  if (!ts.isClassDeclaration(statement) && !ts.isInterfaceDeclaration(statement)) return [];
  return textOf(statement.name).flatMap((owner) => [
    owner,
    ...[...statement.members].flatMap(({ name }) => textOf(name).map((one) => `${owner}.${one}`)),
  ]);
}

function textOf(name: ts.Node | undefined): string[] {
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}
