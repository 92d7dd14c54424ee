// Checked by `npm run lint`, never run: what TypeScript users can and cannot write.

import { Workspace } from '../index.js'
import type { ChunkKind, Hit, IndexReport, Progress, SearchResponse, Status, WatchEvent } from '../index.js'

export async function everyCall(signal: AbortSignal): Promise<void> {
  const workspace: Workspace = await Workspace.open({
    roots: ['.'],
    storage: '/tmp/x',
    config: {
      ignore: { gitignore: true, sextantignore: true, defaults: false, secrets: true, exclude: ['*.log'] },
      vectorDb: { performanceMode: 'balanced', batchSize: 20 },
      hybridSearch: { vectorWeight: 0.5, textWeight: 0.5, mmr: { enabled: true, lambda: 0.5 } },
      cascade: { fullWorkspace: false },
      embedding: { baseUrl: 'http://localhost:11434', model: 'a' },
    },
  })
  const report: IndexReport = await workspace.sync({ signal, onProgress: (progress: Progress) => void progress.phase })
  const answer: SearchResponse = await workspace.search(
    {
      query: 'q',
      keywords: ['k'],
      limit: 5,
      tokenBudget: 100,
      strategy: 'hybrid',
      paths: ['src'],
      languages: ['rust'],
      kinds: ['function'],
      explain: true,
      sync: false,
    },
    { signal },
  )
  const hit: Hit | undefined = answer.hits[0]
  const name: string | null | undefined = hit?.name
  const kind: ChunkKind | undefined = hit?.kind
  const status: Status = await workspace.status()
  const problem: string | undefined = status.lastError?.code
  const paths: string[] = (await workspace.files()).map((file) => file.path)
  const reasons: string[] = (await workspace.skipped()).map((skipped) => skipped.reason)
  const tokens: number[] = (await workspace.chunks('a.rs')).chunks.map((chunk) => chunk.tokens)
  void [report, name, kind, problem, paths, reasons, tokens]
  const watched: void = await workspace.watch({ debounceDelay: 500 }, (event: WatchEvent) => {
    if (event.type === 'synced') {
      const changed: number = event.report.changed
      void changed
    } else if (event.type === 'failed') {
      const failure: string = event.code + event.message
      void failure
    } else {
      const phase: 'walk' | 'index' | 'commit' | 'embed' = event.progress.phase
      void phase
    }
  })
  await workspace.watch()
  const unwatched: void = await workspace.unwatch()
  const paused: void = await workspace.pause()
  const resumed: IndexReport = await workspace.resume({ signal })
  const moved: void = await workspace.setRoots(['src'])
  const state: 'empty' | 'indexing' | 'ready' | 'paused' | 'cleared' = status.state
  const [blind, done] = [status.degraded.map(({ code }) => code), status.progress?.filesDone]
  void [watched, unwatched, paused, resumed, moved, state, blind, done]
  const cleared: void = await workspace.clear()
  const closed: void = await workspace.close()
  void [cleared, closed]

  // @ts-expect-error roots are required
  await Workspace.open({})
  // @ts-expect-error there is no such strategy
  await workspace.search({ query: 'q', strategy: 'magic' })
  // @ts-expect-error events are told apart by their type
  await workspace.watch({}, (event) => event.report)
  // @ts-expect-error there is no such option
  await workspace.search({ query: 'q', top: 5 })
}
