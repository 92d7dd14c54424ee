/**
 * The one door to VS Code's settings.
 *
 * Out: the settings as they are now, the editor's own proxy where no other is named, and an event when one changes. In a
 * workspace that is not trusted, VS Code itself leaves out what the workspace says about the settings in
 * `restrictedConfigurations` of the manifest.
 */

import * as vscode from 'vscode'
import { readSettings, type SettingKey, type Settings } from './settings'

const SECTION = 'sextant'

export class Config implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<Settings>()
  readonly #subscription: vscode.Disposable
  readonly #onProblem: (problem: string) => void
  #settings: Settings

  readonly onDidChange = this.#changed.event

  constructor(onProblem: (problem: string) => void) {
    this.#onProblem = onProblem
    this.#settings = this.#read()
    this.#subscription = vscode.workspace.onDidChangeConfiguration((event) => {
      if ([SECTION, 'http'].some((section) => event.affectsConfiguration(section))) {
        this.#settings = this.#read()
        this.#changed.fire(this.#settings)
      }
    })
  }

  get settings(): Settings {
    return this.#settings
  }

  dispose(): void {
    this.#subscription.dispose()
    this.#changed.dispose()
  }

  #read(): Settings {
    const configuration = vscode.workspace.getConfiguration(SECTION)
    const { settings, problems } = readSettings((key) => configuration.get<unknown>(key), (key) => isWritten(configuration, key))
    problems.forEach((problem) => { this.#onProblem(problem) })
    return { ...settings, ...proxyOf(settings, vscode.workspace.getConfiguration('http')) }
  }
}

/** Whoever has told the editor about a proxy need not do so twice. */
function proxyOf(settings: Settings, http: vscode.WorkspaceConfiguration): Partial<Settings> {
  const own = settings['embedding.proxy']
  const direct = settings['embedding.noProxy']
  if (http.get('proxySupport') === 'off') {
    return {}
  }
  const proxy = http.get<unknown>('proxy')
  const noProxy = http.get<unknown>('noProxy')
  return {
    'embedding.proxy': own === '' && typeof proxy === 'string' ? proxy.trim() : own,
    'embedding.noProxy': direct === '' && Array.isArray(noProxy) ? noProxy.join(',') : direct,
  }
}

/** VS Code itself fills in the default of the manifest. To look behind that takes it a while, so few settings ask. */
function isWritten(configuration: vscode.WorkspaceConfiguration, key: SettingKey): boolean {
  const { globalValue, workspaceValue, workspaceFolderValue } = configuration.inspect(key) ?? {}
  return [globalValue, workspaceValue, workspaceFolderValue].some((place) => place !== undefined)
}
