// Writes code that nobody wrote: the same files for the same number, of the sizes that files of code have.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const VERBS = 'parse load store refresh validate merge split resolve encode decode compress schedule retry cancel flush rotate evict publish subscribe render measure compare sort filter collect release acquire normalise format verify sign encrypt count limit batch stream copy move watch replay'.split(' ')
const NOUNS = 'session token request response cache index document window cursor buffer packet header record invoice account payment order basket user role permission event queue worker job timer snapshot checkpoint segment shard replica leader lease lock cluster node route handler template theme layout widget panel menu editor symbol scope module package version manifest archive checksum digest certificate secret policy rule metric span trace'.split(' ')
const WORDS = 'the first time after an error when nothing changed unless it is empty before closing so that readers see one state only if asked twice because order matters within limits for every caller without copying'.split(' ')

/** Numbers from 0 to 1, the same ones each time (mulberry32). */
function numbers(seed) {
  let state = seed
  return () => {
    state = state + 0x6D2B79F5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296
  }
}

const capital = (word) => word[0].toUpperCase() + word.slice(1)
const snake = (...words) => words.join('_')
const camel = (first, ...rest) => first + rest.map(capital).join('')

const LANGUAGES = {
  ts: {
    head: (type) => `/** ${type}: see the functions below. */\n\nexport interface ${type} {\n  readonly id: string\n  readonly at: number\n}\n`,
    comment: (text) => `/** ${text} */`,
    open: (verb, noun, arg) => `export function ${camel(verb, noun)}(${arg}: Map<string, number>, limit = 16): number {\n  let total = 0`,
    line: (a, b, n) => `  if (${a}.has('${b}') && total < limit + ${n}) {\n    total += ${a}.get('${b}') ?? ${n}\n  }`,
    close: '  return total\n}\n',
  },
  py: {
    head: (type) => `"""${type}: see the functions below."""\n\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass ${type}:\n    id: str\n    at: float\n`,
    comment: (text) => `# ${text}`,
    open: (verb, noun, arg) => `def ${snake(verb, noun)}(${arg}: dict[str, int], limit: int = 16) -> int:\n    total = 0`,
    line: (a, b, n) => `    if "${b}" in ${a} and total < limit + ${n}:\n        total += ${a}.get("${b}", ${n})`,
    close: '    return total\n',
  },
  go: {
    head: (type) => `package ${type.toLowerCase()}\n\n// ${type} is what the functions below work on.\ntype ${type} struct {\n\tID string\n\tAt int64\n}\n`,
    comment: (text) => `// ${text}`,
    open: (verb, noun, arg) => `func ${camel(verb, noun)}(${arg} map[string]int, limit int) int {\n\ttotal := 0`,
    line: (a, b, n) => `\tif value, ok := ${a}["${b}"]; ok && total < limit+${n} {\n\t\ttotal += value\n\t}`,
    close: '\treturn total\n}\n',
  },
  java: {
    head: (type) => `package example.${type.toLowerCase()};\n\nimport java.util.Map;\n\n/** See the methods below. */\nfinal class ${type} {\n`,
    comment: (text) => `    /** ${text} */`,
    open: (verb, noun, arg) => `    static int ${camel(verb, noun)}(Map<String, Integer> ${arg}, int limit) {\n        int total = 0;`,
    line: (a, b, n) => `        if (${a}.containsKey("${b}") && total < limit + ${n}) {\n            total += ${a}.get("${b}");\n        }`,
    close: '        return total;\n    }\n',
    foot: '}\n',
  },
}

/** The text of one file: as many functions as files have, few of them long. */
function text(language, type, random) {
  const pick = (list) => list[Math.floor(random() * list.length)]
  const { head, comment, open, line, close, foot = '' } = LANGUAGES[language]
  const parts = [head(type)]
  const functions = 2 + Math.floor(14 * random() ** 2)
  for (let i = 0; i < functions; i += 1) {
    const [verb, noun, argument] = [pick(VERBS), pick(NOUNS), pick(NOUNS)]
    const sentence = `${capital(verb)} the ${noun} of the ${argument} ${Array.from({ length: 6 + Math.floor(random() * 14) }, () => pick(WORDS)).join(' ')}.`
    const lines = Array.from({ length: 2 + Math.floor(12 * random() ** 2) }, () => line(argument, pick(NOUNS), Math.floor(random() * 1000)))
    parts.push([comment(sentence), open(verb, noun, argument), ...lines, close].join('\n'))
  }
  return parts.join('\n') + foot
}

/** Fills a folder with so many files of code; the sum of their bytes comes back. */
export function generate(folder, files) {
  const random = numbers(files)
  const made = new Set()
  let bytes = 0
  for (let i = 0; i < files; i += 1) {
    const pick = (list) => list[Math.floor(random() * list.length)]
    const language = pick(Object.keys(LANGUAGES))
    const type = `${capital(pick(NOUNS))}${capital(pick(NOUNS))}${i}`
    const path = join(folder, pick(NOUNS), pick(VERBS), `${language === 'java' ? type : type.toLowerCase()}.${language}`)
    if (!made.has(dirname(path))) {
      mkdirSync(dirname(path), { recursive: true })
      made.add(dirname(path))
    }
    const content = text(language, type, random)
    bytes += content.length
    writeFileSync(path, content)
  }
  return bytes
}
