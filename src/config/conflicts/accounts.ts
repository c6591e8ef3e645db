import type { Finding, Path } from '../faults.js';
import type { OrganizationConfig } from '../schema.js';
import { findRepeats, type Check } from './check.js';

export const accounts: Check = {
  reads: ['bootstrap'],
  find({ bootstrap: { organizations } }) {
    const at = (index: number): Path => ['bootstrap', 'organizations', index];
    const secrets = organizations.flatMap((organization, index) => secretsOf(organization, at(index)));
    return [
      ...findTwins(
        organizations.map(({ id }) => id),
        (index) => [...at(index), 'id'],
      ),
      ...findRepeats(secrets.filter(({ what }) => what !== 'generate')),
      ...organizations.flatMap((organization, index) => findWithin(organization, at(index))),
    ];
  },
};

const findTwins = (names: readonly string[], at: (index: number) => Path): Finding[] =>
  findRepeats(names.map((what, index) => ({ what, path: at(index), message: 'is used twice' })));

function secretsOf({ admin_keys, projects }: OrganizationConfig, at: Path) {
  const use = (what: string, ...rest: Path) => ({
    what,
    path: [...at, ...rest, 'value'],
    message: 'is the value of another key too',
  });
  return [
    ...admin_keys.map(({ value }, index) => use(value, 'admin_keys', index)),
    ...projects.flatMap(({ keys }, project) =>
      keys.map(({ value }, index) => use(value, 'projects', project, 'keys', index)),
    ),
  ];
}

function findWithin({ admin_keys, projects, policies }: OrganizationConfig, at: Path): Finding[] {
  const twins = (names: readonly string[], list: Path, key: string): Finding[] =>
    findTwins(names, (index) => [...at, ...list, index, key]);
  const namesOf = (items: readonly { readonly name: string }[]): string[] => items.map(({ name }) => name);
  const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);
  return [
    ...twins(namesOf(admin_keys), ['admin_keys'], 'name'),
    ...twins(idsOf(projects), ['projects'], 'id'),
    ...twins(idsOf(policies), ['policies'], 'id'),
    ...projects.flatMap(({ keys }, index) => twins(namesOf(keys), ['projects', index, 'keys'], 'name')),
    ...policies.flatMap((policy, index) => findScopeFault(policy, [...at, 'policies', index, 'project_ids'])),
  ];
}

function findScopeFault(policy: OrganizationConfig['policies'][number], path: Path): Finding[] {
  if (!policy.publish) return [];
  if (policy.scope === 'projects' && policy.project_ids.length === 0)
    return [{ path, message: 'must name a project when scope is projects' }];
  if (policy.scope !== 'projects' && policy.project_ids.length > 0)
    return [{ path, message: 'must be empty unless scope is projects' }];
  return [];
}
