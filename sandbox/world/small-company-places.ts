// Decides where things of the small company stand: its projects, the day it began, and the ids that several
// of its resources mention.
import { findRegion, mustFind } from './catalogue.ts'
import { namedUuid } from './ids.ts'

export const SINCE = '2025-11-03T09:00:00Z'
export const since = new Date(SINCE)

export const region = (slug: string) => mustFind(findRegion(slug), slug)
const projectId = (name: string) => namedUuid(`project:${name}`)
export const vpcId = (name: string) => namedUuid(`vpc:${name}`)
export const volumeId = (name: string) => namedUuid(`volume:${name}`)

export const smallCompanyProjects = {
  platform: projectId('platform'),
  acme: projectId('acme'),
  globex: projectId('globex'),
  initech: projectId('initech'),
}

export type Owner = keyof typeof smallCompanyProjects

export function at(owner: Owner) {
  return { projectId: smallCompanyProjects[owner], now: since }
}
