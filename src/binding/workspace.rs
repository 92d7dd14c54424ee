//! The class that JavaScript sees.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{PromiseRaw, Result, Unknown};
use napi_derive::napi;

use super::arguments::Argument;
use super::call;
use super::failure::guard;
use super::options::{self, CallOptions, Search};
use super::results::{FileChunks, IndexReport, IndexedFile, SearchResponse, SkippedPath, Status};
use super::running::Running;
use super::threads::Length;
use crate::engine::Engine;
use crate::error::Error;

/// A workspace: one or more folders and the index over them.
///
/// Every method returns a promise. Every failure is an `Error` with a stable `code`; docs/errors.md lists them.
#[napi]
pub struct Workspace {
    engine: Arc<Engine>,
    running: Arc<Running>,
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
            Ok(Self { engine: Arc::new(Engine::open(options)?), running })
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

    /// Removes the index. The next sync builds it anew.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn clear<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let engine = Arc::clone(&self.engine);
        let call = || Ok(((), CallOptions::NONE));
        call::start(env, &self.running, Length::Long, call, move |_, ()| engine.clear())
    }

    /// Stops what still runs, which then rejects with the code `CANCELLED`, and releases files and memory. Every later
    /// call rejects with the code `CLOSED`; closing again does nothing. A workspace that is not closed does not keep
    /// the process alive.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let (engine, running) = (Arc::clone(&self.engine), Arc::clone(&self.running));
        running.cancel_all();
        call::run(env, Length::Long, move || {
            running.wait_until_idle();
            engine.close();
            Ok(())
        })
    }
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
