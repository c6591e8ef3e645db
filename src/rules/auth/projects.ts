import { notFound } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Page, Stored } from '../../io/records/records.js';
import { alreadyExists, checkId, checkName, nowSeconds, resourceLimit, type Accounts } from './accounts.js';
import { PROJECTS, ProjectRecord } from './layout.js';
import { getOrganization } from './organizations.js';

/** As clients see it. */
export interface Project {
  readonly object: 'organization.project';
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  readonly archived_at: null;
  readonly status: 'active';
}

export interface NewProject {
  readonly id?: string;
  readonly name: string;
}

const show = (id: string, { name, created_at }: ProjectRecord): Project => ({
  object: 'organization.project',
  id,
  name,
  created_at,
  archived_at: null,
  status: 'active',
});

const read = (stored: Stored): Project => show(stored.id, readRecord(ProjectRecord, stored));

export const createProject = async (
  accounts: Accounts,
  organizationId: string,
  { id = newId('proj'), name }: NewProject,
  { also }: ChangeOptions<Project> = {},
): Promise<Project> => {
  checkId('proj', id);
  checkName(name);
  await getOrganization(accounts, organizationId);
  const value: ProjectRecord = { name, created_at: nowSeconds(accounts.clock) };
  const project = show(id, value);
  const refusal = await commitWith(
    accounts.records,
    organizationId,
    [
      { op: 'room', collection: PROJECTS, max: accounts.limits.projects },
      { op: 'put', collection: PROJECTS, id, value, expect: 'absent' },
    ],
    also?.(project) ?? [],
  );
  if (refusal?.reason === 'full') throw resourceLimit('projects', accounts.limits.projects);
  if (refusal) throw alreadyExists(id);
  return project;
};

export const findProject = async (
  accounts: Accounts,
  organizationId: string,
  id: string,
): Promise<Project | null> => {
  const stored = await accounts.records.get(organizationId, PROJECTS, id);
  return stored && read(stored);
};

export const getProject = async (
  accounts: Accounts,
  organizationId: string,
  id: string,
): Promise<Project> => {
  const project = await findProject(accounts, organizationId, id);
  if (!project) throw notFound('No such project.');
  return project;
};

export const listProjects = async (
  accounts: Accounts,
  organizationId: string,
  page: Page,
): Promise<{ readonly items: readonly Project[]; readonly hasMore: boolean }> => {
  const { items, hasMore } = await accounts.records.list(organizationId, PROJECTS, page);
  return { items: items.map(read), hasMore };
};
