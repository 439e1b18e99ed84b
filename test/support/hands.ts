// Two ways to use the console: a mouse, or nothing but a keyboard. What is done is said once and done by either.
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

export interface Hand {
  /** To a page of the navigation; `within` is the page under which the navigation has it. */
  go(name: string, within?: string): Promise<void>
  press(button: string): Promise<void>
  follow(link: Locator): Promise<void>
  tick(box: Locator): Promise<void>
  /** Fills a dialog's fields by their labels, and sends it with this button. */
  fill(dialog: string, values: Record<string, string>, button: string): Promise<void>
  /** Sets a filter of the page: a choice, or free text. */
  filter(label: string, value: string): Promise<void>
  /** Types into the page's search, which bears this label. */
  search(label: string, text: string): Promise<void>
}

const button = (of: Page | Locator, name: string) => of.getByRole('button', { name, exact: true })

const fieldOf = (of: Page | Locator, label: string) => of.getByLabel(label).first()

const isChoice = (field: Locator) => field.evaluate(element => element.tagName === 'SELECT')

export function mouse(page: Page): Hand {
  const pages = page.getByRole('navigation', { name: 'Pages' })
  const set = async (field: Locator, value: string) => {
    if (await isChoice(field)) return void (await field.selectOption({ label: value }))
    await field.click()
    await field.fill(value)
  }
  return {
    go: async (name, within) => {
      for (const link of within ? [within, name] : [name])
        await pages.getByRole('link', { name: link, exact: true }).click()
    },
    press: name => button(page, name).click(),
    follow: link => link.click(),
    tick: box => box.check(),
    fill: async (title, values, send) => {
      const dialog = page.getByRole('dialog', { name: title, exact: true })
      for (const [label, value] of Object.entries(values)) await set(fieldOf(dialog, label), value)
      await button(dialog, send).click()
      await dialog.waitFor({ state: 'detached' })
    },
    filter: async (label, value) => {
      await set(fieldOf(page, label), value)
      // A text counts when its field is left.
      await page.getByRole('heading', { level: 1 }).click()
    },
    search: async (label, text) => {
      await set(fieldOf(page, label), text)
      await page.getByRole('heading', { level: 1 }).click()
    },
  }
}

/** Sends keys to the page and nothing else. */
export function keyboard(page: Page): Hand {
  const { keyboard: keys } = page
  const enter = async (target: Locator) => {
    await tabTo(page, target)
    await keys.press('Enter')
  }
  const set = async (field: Locator, value: string) => {
    await tabTo(page, field)
    // Letters find the option of a choice; in a text they replace what stood there.
    if (!(await isChoice(field))) await keys.press('Control+a')
    await keys.type(value)
  }
  return {
    go: async name => {
      await keys.press('Control+k')
      await page.getByRole('combobox', { name: 'Command' }).waitFor()
      await keys.type(`Go to ${name}`)
      await keys.press('Enter')
    },
    press: name => enter(button(page, name)),
    follow: enter,
    tick: async box => {
      await tabTo(page, box)
      await keys.press('Space')
    },
    fill: async (title, values, send) => {
      const dialog = page.getByRole('dialog', { name: title, exact: true })
      for (const [label, value] of Object.entries(values)) await set(fieldOf(dialog, label), value)
      await enter(button(dialog, send))
      await dialog.waitFor({ state: 'detached' })
    },
    filter: async (label, value) => {
      await set(fieldOf(page, label), value)
      await keys.press('Tab')
    },
    search: async (label, text) => {
      const field = fieldOf(page, label)
      await field.waitFor()
      await keys.press('/')
      assert.ok(await hasFocus(field), `/ leads to ${label}`)
      await keys.type(text)
      await keys.press('Enter')
    },
  }
}

const hasFocus = (target: Locator) =>
  target.evaluate(element => element === element.ownerDocument.activeElement)

/** Tab until the focus is there. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < 300; presses++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the focus never came to ${target}`)
}
