// Light or dark, as the system has it unless the reader chose. The only thing that the console keeps in the browser.
import { signal } from '@preact/signals'

const KEY = 'cloudops-theme'
const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

function kept(): Theme {
  try {
    const text = localStorage.getItem(KEY)
    return themes.find(theme => theme === text) ?? 'system'
  } catch {
    return 'system'
  }
}

export const theme = signal<Theme>(kept())

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value
}

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
  applyTheme()
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // A browser that keeps nothing shows it until the page is left.
  }
}
