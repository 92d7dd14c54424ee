import js from '@eslint/js'

const node = Object.fromEntries(
  ['AbortController', 'AbortSignal', 'Buffer', 'URL', 'clearInterval', 'clearTimeout', 'console', 'performance', 'process', 'setInterval', 'setTimeout'].map((name) => [name, 'readonly']),
)

export default [
  { ignores: ['index.js', 'target/', 'node_modules/', '**/*.ts', 'vscode-extension/'] },
  js.configs.recommended,
  {
    languageOptions: { globals: node },
    rules: {
      complexity: ['error', 20],
      eqeqeq: 'error',
      'max-lines': ['error', 600],
      'max-lines-per-function': ['error', 100],
      'no-console': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' }],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['bin/**/*.js', 'lib/**/*.js'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: { __dirname: 'readonly', module: 'writable', require: 'readonly' },
    },
  },
  { files: ['__test__/**'], rules: { 'max-lines-per-function': 'off' } },
]
