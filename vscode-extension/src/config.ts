/**
 * The one door to VS Code's settings.
 *
 * Out: the settings as they are now, and an event when one changes. In a workspace that is not trusted, VS Code itself
 * leaves out what the workspace says about the settings in `restrictedConfigurations` of the manifest.
 */

import * as vscode from 'vscode'
import { readSettings, RULES, type SettingKey, type Settings } from './settings'

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
      if (event.affectsConfiguration(SECTION)) {
        this.#settings = this.#read()
        this.#changed.fire(this.#settings)
      }
    })
  }

  get settings(): Settings {
    return this.#settings
  }

  /** Writes a setting where the user wrote it before, else in the user's own settings. */
  async update(key: SettingKey, value: unknown): Promise<void> {
    const configuration = vscode.workspace.getConfiguration(SECTION)
    const inWorkspace = configuration.inspect(key)?.workspaceValue !== undefined
    await configuration.update(key, value, inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global)
  }

  dispose(): void {
    this.#subscription.dispose()
    this.#changed.dispose()
  }

  #read(): Settings {
    const configuration = vscode.workspace.getConfiguration(SECTION)
    const { settings, problems } = readSettings((key) => written(configuration, key))
    problems.forEach((problem) => { this.#onProblem(problem) })
    return settings
  }
}

/** What somebody wrote, or `undefined`: VS Code itself fills in the default of the manifest. */
function written(configuration: vscode.WorkspaceConfiguration, key: SettingKey): unknown {
  const value = configuration.get<unknown>(key)
  const { globalValue, workspaceValue, workspaceFolderValue } = configuration.inspect(key) ?? {}
  const isWritten = [globalValue, workspaceValue, workspaceFolderValue].some((place) => place !== undefined)
  return isWritten || value !== RULES[key].fallback ? value : undefined
}
