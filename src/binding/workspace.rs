//! The class that JavaScript sees.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{PromiseRaw, Result, Unknown};
use napi_derive::napi;

use super::arguments::Argument;
use super::call;
use super::failure::guard;
use super::options::{self, CallOptions, Search};
use super::order::Order;
use super::results::{
    FileChunks, IndexReport, IndexedFile, RootOverview, SearchResponse, SkippedPath, Status,
};
use super::running::Running;
use super::threads::Length;
use super::watch::{self, Listener, Watching};
use crate::engine::Engine;
use crate::error::Error;

/// A workspace: one or more folders and the index over them.
///
/// Every method returns a promise. Every failure is an `Error` with a stable `code`; docs/errors.md lists them.
#[napi]
pub struct Workspace {
    engine: Arc<Engine>,
    running: Arc<Running>,
    watching: Arc<Watching>,
    /// Of the calls that begin, change and end a watch.
    order: Arc<Order>,
}

#[napi]
impl Workspace {
    /// Opens a workspace. Creates its storage folder, indexes nothing.
    #[napi(
        catch_unwind,
        ts_args_type = "options: OpenOptions",
        ts_return_type = "Promise<Workspace>"
    )]
    pub fn open<'env>(env: &'env Env, options: Unknown<'env>) -> Result<PromiseRaw<'env, Self>> {
        let running = Arc::new(Running::default());
        let call = || Ok((options::open(env, options)?, CallOptions::NONE));
        call::start(env, &running.clone(), Length::Long, call, move |_, options| {
            let engine = Arc::new(Engine::open(options)?);
            Ok(Self { engine, running, watching: Arc::default(), order: Arc::default() })
        })
    }

    /// Brings the index up to date with the files, building it if there is none. Commits whole files or nothing: a run
    /// that fails or is aborted leaves the last complete index as it was.
    #[napi(
        catch_unwind,
        ts_args_type = "options?: CallOptions | null",
        ts_return_type = "Promise<IndexReport>"
    )]
    pub fn sync<'env>(
        &self,
        env: &'env Env,
        options: Unknown<'env>,
    ) -> Result<PromiseRaw<'env, IndexReport>> {
        let engine = Arc::clone(&self.engine);
        let call = || Ok(((), options::call(env, options)?));
        call::start(env, &self.running, Length::Long, call, move |task, ()| {
            engine.sync(&task.cancel, task.progress()).map(IndexReport::from)
        })
    }

    /// Answers a question from the last complete index; with `sync`, brings it up to date first.
    #[napi(
        catch_unwind,
        ts_args_type = "options: SearchOptions, callOptions?: CallOptions | null",
        ts_return_type = "Promise<SearchResponse>"
    )]
    pub fn search<'env>(
        &self,
        env: &'env Env,
        options: Unknown<'env>,
        call_options: Unknown<'env>,
    ) -> Result<PromiseRaw<'env, SearchResponse>> {
        let engine = Arc::clone(&self.engine);
        let search = guard(|| options::search(env, options));
        let length = match &search {
            Ok(Search { sync: true, .. }) => Length::Long,
            _ => Length::Short,
        };
        let call = || Ok((search?, options::call(env, call_options)?));
        call::start(env, &self.running, length, call, move |task, search| {
            let Search { request, sync } = &search;
            let answer = if *sync {
                engine.sync_and_search(&task.cancel, task.progress(), request)
            } else {
                engine.search(&task.cancel, request)
            };
            answer.map(SearchResponse::from)
        })
    }

    /// Takes other settings, from the next run and search on; whatever is left out gets its default. A watch that goes on
    /// takes up what they change by itself.
    #[napi(catch_unwind, ts_args_type = "config: Config", ts_return_type = "Promise<void>")]
    pub fn configure<'env>(
        &self,
        env: &'env Env,
        config: Unknown<'env>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let engine = Arc::clone(&self.engine);
        let call = || Ok((options::configure(env, config)?, CallOptions::NONE));
        call::start(env, &self.running, Length::Short, call, move |_, config| {
            engine.configure(&config)
        })
    }

    /// How the workspace stands.
    #[napi(catch_unwind, ts_return_type = "Promise<Status>")]
    pub fn status<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Status>> {
        self.ask(env, |engine| engine.status().map(Status::from))
    }

    /// The files in the index, by root and path.
    #[napi(catch_unwind, ts_return_type = "Promise<IndexedFile[]>")]
    pub fn files<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Vec<IndexedFile>>> {
        self.ask(env, |engine| Ok(engine.files()?.into_iter().map(IndexedFile::from).collect()))
    }

    /// Every path that the last sync left out, with the reason.
    #[napi(catch_unwind, ts_return_type = "Promise<SkippedPath[]>")]
    pub fn skipped<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Vec<SkippedPath>>> {
        self.ask(env, |engine| Ok(engine.skipped()?.into_iter().map(SkippedPath::from).collect()))
    }

    /// What `files` and `skipped` tell, counted for each root: little, however large the roots are.
    #[napi(catch_unwind, ts_return_type = "Promise<RootOverview[]>")]
    pub fn overview<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Vec<RootOverview>>> {
        self.ask(env, |engine| Ok(engine.overview()?.into_iter().map(RootOverview::from).collect()))
    }

    /// The chunks of a file as it is on disk now. `file` is absolute or relative to a root. Leaves the index alone.
    #[napi(catch_unwind, ts_args_type = "file: string", ts_return_type = "Promise<FileChunks>")]
    pub fn chunks<'env>(
        &self,
        env: &'env Env,
        file: Unknown<'env>,
    ) -> Result<PromiseRaw<'env, FileChunks>> {
        let engine = Arc::clone(&self.engine);
        let call = || {
            let file = Argument::new(env, "file", file).filled_text("the path of a file")?;
            Ok((file, CallOptions::NONE))
        };
        call::start(env, &self.running, Length::Short, call, move |_, file| {
            engine.chunks(&file).map(FileChunks::from)
        })
    }

    /// Keeps the index current from now on: brings it up to date at once, and again whenever files have changed and
    /// nothing has for a while. The promise settles once the watch has begun, not once the first run is done.
    ///
    /// A watch goes on until `unwatch`, `close` or the end of the process or worker, even if nobody holds the workspace
    /// any more. It does not keep the process alive. A watch that goes on already is replaced. Changes that a `sync` or
    /// a search has taken in meanwhile are not told again. What `onEvent` throws is an uncaught exception, as with any
    /// listener, and does not end the watch. Where the system does not tell of changes, `status` says so in `degraded`,
    /// and the files are looked through now and then instead.
    #[napi(
        catch_unwind,
        ts_args_type = "options?: WatchOptions | null, onEvent?: (event: WatchEvent) => void",
        ts_return_type = "Promise<void>"
    )]
    pub fn watch<'env>(
        &self,
        env: &'env Env,
        options: Unknown<'env>,
        on_event: Unknown<'env>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let (engine, place) = (Arc::clone(&self.engine), self.order.join());
        let watching = Arc::clone(&self.watching);
        let call = || {
            let options = options::watch(env, options)?;
            let (sink, listener) = match options::on_event(env, on_event)? {
                Some(callback) => {
                    let (sink, listener) = watch::connect(env, callback)?;
                    (sink, Some(listener))
                }
                None => (watch::nobody(), None),
            };
            self.watching.begin(env, &self.engine, listener)?;
            Ok(((options, sink), CallOptions::NONE))
        };
        call::start(env, &self.running, Length::Long, call, move |_, (options, sink)| {
            place.wait();
            engine.watch(options, sink).inspect_err(|_| drop(watching.end()))
        })
    }

    /// Ends a watch, and waits until nothing of it runs; the last event is told before the promise settles. What a run
    /// had finished is kept for the next. Does nothing if there is no watch.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn unwatch<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let (engine, place) = (Arc::clone(&self.engine), self.order.join());
        let listener = self.watching.end();
        let call = || Ok(((), CallOptions::NONE));
        let ended = call::start(env, &self.running, Length::Long, call, move |_, ()| {
            place.wait();
            engine.unwatch();
            Ok(())
        })?;
        tell_the_last(ended, listener)
    }

    /// Stops what indexes, here and in other processes, and lets nothing begin until `resume`. What was finished is kept.
    /// The last complete index can be searched; a search that is to sync first says `INDEX_PAUSED` in `degraded`, a
    /// `sync` rejects with that code. The promise settles once nothing runs any more. A pause outlives the process, and is
    /// about this set of roots.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn pause<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let engine = Arc::clone(&self.engine);
        let call = || Ok(((), CallOptions::NONE));
        call::start(env, &self.running, Length::Long, call, move |_, ()| engine.pause())
    }

    /// Ends a pause, and goes on where it stopped; also builds the index after `clear`. Otherwise as `sync`.
    #[napi(
        catch_unwind,
        ts_args_type = "options?: CallOptions | null",
        ts_return_type = "Promise<IndexReport>"
    )]
    pub fn resume<'env>(
        &self,
        env: &'env Env,
        options: Unknown<'env>,
    ) -> Result<PromiseRaw<'env, IndexReport>> {
        let engine = Arc::clone(&self.engine);
        let call = || Ok(((), options::call(env, options)?));
        call::start(env, &self.running, Length::Long, call, move |task, ()| {
            engine.resume(&task.cancel, task.progress()).map(IndexReport::from)
        })
    }

    /// Makes the workspace one of other folders, in the same storage. What indexes now is stopped and rejects with the
    /// code `CANCELLED`. A root that leaves is no longer searched, and still stored if it comes back; a new one is indexed
    /// by the next sync, or by itself during a watch. If a folder is refused, nothing changes.
    #[napi(catch_unwind, ts_args_type = "roots: string[]", ts_return_type = "Promise<void>")]
    pub fn set_roots<'env>(
        &self,
        env: &'env Env,
        roots: Unknown<'env>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let (engine, place) = (Arc::clone(&self.engine), self.order.join());
        let call = || Ok((options::roots(env, roots)?, CallOptions::NONE));
        call::start(env, &self.running, Length::Long, call, move |_, roots| {
            place.wait();
            engine.set_roots(&roots)
        })
    }

    /// Removes the index. None is made, by no watch and no search, until `sync` or `resume` is called; a search that is to
    /// sync first rejects with the code `INDEX_CLEARED`.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn clear<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let engine = Arc::clone(&self.engine);
        let call = || Ok(((), CallOptions::NONE));
        call::start(env, &self.running, Length::Long, call, move |_, ()| engine.clear())
    }

    /// Ends a watch, stops what still runs, which then rejects with the code `CANCELLED`, and releases files and memory.
    /// Every later call rejects with the code `CLOSED`; closing again does nothing. A workspace that is not closed does
    /// not keep the process alive.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let (engine, running) = (Arc::clone(&self.engine), Arc::clone(&self.running));
        running.cancel_all();
        let listener = self.watching.end();
        let closed = call::run(env, Length::Long, move || {
            running.wait_until_idle();
            engine.close();
            Ok(())
        })?;
        tell_the_last(closed, listener)
    }
}

/// A promise like `ended`, which settles once everything is told.
fn tell_the_last<'env>(
    mut ended: PromiseRaw<'env, ()>,
    listener: Option<Arc<Listener>>,
) -> Result<PromiseRaw<'env, ()>> {
    let Some(listener) = listener else { return Ok(ended) };
    ended.finally(move |env| {
        listener.deliver(&env);
        Ok(())
    })
}

impl Workspace {
    fn ask<'env, T>(
        &self,
        env: &'env Env,
        question: impl FnOnce(&Engine) -> std::result::Result<T, Error> + Send + 'static,
    ) -> Result<PromiseRaw<'env, T>>
    where
        T: napi::bindgen_prelude::ToNapiValue + Send + 'static,
    {
        let engine = Arc::clone(&self.engine);
        let call = || Ok(((), CallOptions::NONE));
        call::start(env, &self.running, Length::Short, call, move |_, ()| question(&engine))
    }
}
