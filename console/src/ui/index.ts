// The table of contents of the shared pieces; what each takes is in its file. How to write a page: console/README.md.
export { ActButton } from './act-button.tsx'
export { Bars } from './bars.tsx'
export { Choices, chosen } from './choices.tsx'
export { Copy, Once } from './copy.tsx'
export { Confirm, Dialog } from './dialog.tsx'
export { Download } from './download.tsx'
export { type FilterField, Filters } from './filters.tsx'
export { Field, Form, instantOf, type Values } from './form.tsx'
export { decimalOfMinor, minorOf, moneyOfMinor } from './minor.ts'
export { announce } from './notices.tsx'
export { Page, Section } from './page.tsx'
export { Plot } from './plot.tsx'
export { ProblemBanner } from './problem.tsx'
export { Scroll } from './scroll.tsx'
export { Several } from './several.tsx'
export { Empty, Loading, Shown } from './state.tsx'
export { type Column, Table } from './table.tsx'
export {
  Badge,
  Diff,
  duration,
  Facts,
  Json,
  Missing,
  Money,
  money,
  Time,
  type Tone,
  Value,
} from './text.tsx'
export { PagedTimeline, Timeline, type TimelineItem } from './timeline.tsx'
