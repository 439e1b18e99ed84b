import { render } from 'preact'
import { App } from './app.tsx'
import { findSession } from './session.tsx'
import { applyTheme } from './theme.ts'
import './style/base.css'
import './style/frame.css'
import './style/controls.css'
import './style/words.css'
import './style/tables.css'
import './style/charts.css'

applyTheme()
render(<App />, document.getElementById('app')!)
findSession()
