// In place of @vscode/spdlog, a logger in C++ that has no prebuilt binary: the test host needs no compiler.

const { appendFileSync, closeSync, mkdirSync, openSync } = require('node:fs')
const { dirname } = require('node:path')

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'critical']

class Logger {
  constructor(_type, _name, file) {
    this.file = file
    this.level = 2
    this.bare = false
    mkdirSync(dirname(file), { recursive: true })
    closeSync(openSync(file, 'a'))
    LEVELS.forEach((name, level) => { this[name] = (text) => this.write(level, name, text) })
  }

  write(level, name, text) {
    if (level < this.level) return
    try {
      appendFileSync(this.file, this.bare ? text : `${new Date().toISOString()} [${name}] ${text}\n`)
    } catch {
      // The run is over and its folder gone.
    }
  }

  getLevel() { return this.level }
  setLevel(level) { this.level = level }
  setPattern() { this.bare = false }
  clearFormatters() { this.bare = true }
  flush() {}
  drop() {}
}

// One by one: VS Code imports these names, and Node finds them only so.
exports.version = 0
exports.Logger = Logger
exports.setLevel = () => {}
exports.setFlushOn = () => {}
exports.createRotatingLogger = async (name, file) => new Logger('rotating', name, file)
exports.createAsyncRotatingLogger = async (name, file) => new Logger('rotating', name, file)
