/** How does a line of the log look, and which lines are written? Pure. */

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LEVELS)[number]

export const isLogged = (level: LogLevel, least: LogLevel): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(least)

/** VS Code colours `2026-01-31 13:37:00.000 [info] …` in a channel of the language `log`. */
export function logLine(time: Date, level: LogLevel, message: string): string {
  const stamp = time.toISOString().replace('T', ' ').replace('Z', '')
  return `${stamp} [${level}] ${message}`
}
