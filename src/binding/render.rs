//! Hits to the text of a prompt.

use napi::Env;
use napi::bindgen_prelude::{Result, Unknown};
use napi_derive::napi;

use super::arguments::{Argument, Options};
use super::failure::{Failure, guard};
use crate::present::render::{self, RenderHit, RenderOptions, RenderOrder};

/// The names of the orders.
const ORDERS: [(&str, RenderOrder); 2] =
    [("best-first", RenderOrder::BestFirst), ("best-last", RenderOrder::BestLast)];

/// A prompt text, and what is missing in it.
#[napi(object, object_from_js = false)]
pub struct RenderedContext {
    /// The text; empty without hits.
    pub text: String,
    /// Exact o200k tokens of the text.
    pub tokens: f64,
    /// Blocks in the text.
    pub rendered: f64,
    /// Hits that the token budget left out.
    pub omitted: f64,
    /// Lines that the only block lost to the token budget.
    pub cut_lines: f64,
}

/// A hit, as far as a prompt shows it.
struct Shown {
    root: String,
    path: String,
    language: String,
    text: String,
    kind: String,
    lines: (u32, u32),
    score: f64,
}

/// Puts hits into the text of a prompt for a language model: for each, a sentence with path and lines, and a fenced block
/// whose first line is a comment with the place. Throws an `Error` with a `code` if an argument is not what it must be.
#[napi(
    catch_unwind,
    ts_args_type = "hits: Hit[], options?: RenderOptions | null",
    ts_return_type = "RenderedContext"
)]
pub fn render_context(
    env: &Env,
    hits: Unknown<'_>,
    options: Unknown<'_>,
) -> Result<RenderedContext> {
    guard(|| render(env, hits, options)).map_err(|failure| failure.into_js(env))
}

fn render(
    env: &Env,
    hits: Unknown<'_>,
    options: Unknown<'_>,
) -> std::result::Result<RenderedContext, Failure> {
    let hits = read(&Argument::new(env, "hits", hits))?;
    let options = Options::read(
        &Argument::new(env, "options", options),
        &["order", "scores", "tokenBudget"],
    )?;
    let options = RenderOptions {
        order: options
            .get("order")?
            .map_or(Ok(RenderOrder::BestFirst), |given| given.one_of(&ORDERS))?,
        with_scores: options.get("scores")?.map_or(Ok(false), |given| given.flag())?,
        token_budget: options
            .get("tokenBudget")?
            .map(|given| given.whole_number(&(0..=1_000_000)))
            .transpose()?,
    };
    let mut roots: Vec<&str> = hits.iter().map(|hit| hit.root.as_str()).collect();
    roots.sort_unstable();
    roots.dedup();
    let hits: Vec<RenderHit<'_>> = hits
        .iter()
        .map(|hit| RenderHit {
            path: &hit.path,
            root: &hit.root,
            root_name: (roots.len() > 1).then(|| render::root_name(&hit.root, &roots)),
            start_line: hit.lines.0,
            end_line: hit.lines.1,
            language: &hit.language,
            text: &hit.text,
            is_whole_file: hit.kind == "full-file",
            score: hit.score,
        })
        .collect();
    let rendered = render::render(&hits, &options);
    Ok(RenderedContext {
        text: rendered.text,
        tokens: rendered.tokens as f64,
        rendered: rendered.n_rendered as f64,
        omitted: rendered.n_omitted as f64,
        cut_lines: rendered.n_cut_lines as f64,
    })
}

fn read(hits: &Argument<'_>) -> std::result::Result<Vec<Shown>, Failure> {
    let lines = 1..=u32::MAX;
    hits.entries("an array of hits")?
        .iter()
        .map(|hit| {
            let fields = hit.fields()?;
            let field = |name: &str| {
                let found = fields.iter().find(|(known, _)| known == name);
                found.map(|(_, field)| field).ok_or_else(|| hit.wrong(format!("a hit with {name}")))
            };
            let text = |name: &str| field(name)?.text();
            Ok(Shown {
                root: text("root")?,
                path: text("path")?,
                language: text("language")?,
                text: text("text")?,
                kind: text("kind")?,
                lines: (
                    field("startLine")?.whole_number(&lines)? as u32,
                    field("endLine")?.whole_number(&lines)? as u32,
                ),
                score: field("score")?.real()?,
            })
        })
        .collect()
}
