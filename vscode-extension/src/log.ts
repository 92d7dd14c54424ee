/**
 * The one door to the log: an output channel named Sextant.
 *
 * Lines below the level of `sextant.vectorDb.logLevel` are dropped before they are formatted. No text of indexed files and no
 * key is logged, and questions at the level `debug` only.
 */

import * as vscode from 'vscode'
import { isLogged, logLine, type LogLevel } from './log-line'

export class Log implements vscode.Disposable {
  readonly #channel = vscode.window.createOutputChannel('Sextant', 'log')
  level: LogLevel = 'info'

  readonly debug = (message: string): void => { this.#write('debug', message) }
  readonly info = (message: string): void => { this.#write('info', message) }
  readonly warn = (message: string): void => { this.#write('warn', message) }
  readonly error = (message: string): void => { this.#write('error', message) }

  show(): void {
    this.#channel.show(true)
  }

  dispose(): void {
    this.#channel.dispose()
  }

  #write(level: LogLevel, message: string): void {
    if (isLogged(level, this.level)) {
      this.#channel.appendLine(logLine(new Date(), level, message))
    }
  }
}
