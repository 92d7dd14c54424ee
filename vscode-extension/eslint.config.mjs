import tseslint from 'typescript-eslint'

const DOORS = {
  vscode: { group: ['@sextant-code/sextant'], message: 'src/engine.ts is the one door to the addon.' },
}
const DOORS_TO_THE_ADDON = ['src/engine.ts', 'src/addon-config.ts']
/** These decide and compute; they run, and are tested, without an editor. */
const PURE = [
  'actions', 'addon-config', 'context', 'diagnostics', 'engine', 'failure', 'hit-text', 'latest', 'log-line', 'session', 'settings', 'skipped-page', 'status-text',
  'chat/*-text', 'chat/budget', 'chat/citations', 'chat/follow-ups', 'chat/conversation', 'chat/prompt', 'tools/tool-text', 'views/index-model',
].map((name) => `src/${name}.ts`)

export default tseslint.config(
  { ignores: ['dist/', 'out/', 'node_modules/', '.code-host/', '.vscode-test/', 'scripts/', 'test-results/', '**/*.mjs', 'test/fixtures/'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      complexity: ['error', 20],
      eqeqeq: 'error',
      'max-lines': ['error', 600],
      'max-lines-per-function': ['error', 100],
      'no-console': 'error',
      'no-restricted-imports': ['error', { patterns: [DOORS.vscode] }],
      'no-restricted-syntax': ['error',
        { selector: "CallExpression[callee.property.name='getConfiguration']", message: 'src/config.ts is the one door to settings.' },
        { selector: "CallExpression[callee.property.name='createOutputChannel']", message: 'src/log.ts is the one door to the log.' }],
    },
  },
  { files: DOORS_TO_THE_ADDON, rules: { 'no-restricted-imports': 'off' } },
  { files: ['src/config.ts', 'src/log.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: PURE.filter((file) => !DOORS_TO_THE_ADDON.includes(file)),
    rules: { 'no-restricted-imports': ['error', { patterns: [DOORS.vscode, { group: ['vscode'], message: 'This file does without an editor.' }] }] },
  },
  {
    files: ['test/**'],
    rules: { 'max-lines-per-function': 'off', 'no-restricted-syntax': 'off', 'no-restricted-imports': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
)
