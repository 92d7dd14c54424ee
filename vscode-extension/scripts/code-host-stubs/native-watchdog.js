// In place of @vscode/native-watchdog, which has no prebuilt binary: ends the extension host when its parent is gone.

exports.start = (pid) => {
  setInterval(() => {
    try {
      process.kill(pid, 0)
    } catch (error) {
      if (error.code === 'ESRCH') process.exit(87)
    }
  }, 1000).unref()
}
exports.exit = (code) => process.exit(code ?? 0)
