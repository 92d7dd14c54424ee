//! Models and a log that the caller brings, as functions.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use napi::bindgen_prelude::{Float32Array, FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{Env, JsValue, ValueType};

use super::arguments::{Argument, Options, describe};
use super::ask::{Asker, Crossing};
use super::failure::Failure;
use crate::config::Config;
use crate::embed::provider::callback::{
    CallbackEmbedder, CallbackSettings, EmbedFunction, Reply, Stop,
};
use crate::embed::provider::{Embedder, Role};
use crate::query::rewrite::{self, Completion, LanguageModel, ModelError, Purpose};
use crate::task::CancelToken;

/// How often one who waits asks whether it was cancelled.
const INTERVAL: Duration = Duration::from_millis(20);
/// Models have no more dimensions than this.
const MAX_DIMENSIONS: u32 = 65_536;

/// Texts to vectors.
struct Embedding;

impl Crossing for Embedding {
    type Question = (Role, Vec<String>);
    type Answer = Vec<Vec<f32>>;

    fn ask<'env>(env: &'env Env, (role, texts): Self::Question) -> napi::Result<Unknown<'env>> {
        let mut question = Object::new(env)?;
        question.set_named_property("texts", texts)?;
        let role = match role {
            Role::Document => "document",
            Role::Query => "query",
        };
        question.set_named_property("role", role)?;
        Ok(question.to_unknown())
    }

    fn answer(_: &Env, value: Unknown<'_>) -> Result<Self::Answer, String> {
        let wrong = |value: &Unknown<'_>, what: &str| {
            format!("embed gave {}; expected {what}", describe(value))
        };
        if !value.is_array().unwrap_or(false) {
            return Err(wrong(&value, "an array with one vector for each text"));
        }
        let read = |error: napi::Error| error.reason.clone();
        let array = value.coerce_to_object().map_err(read)?;
        let n = array.get_array_length().map_err(read)?;
        (0..n)
            .map(|at| {
                let vector: Unknown<'_> = array.get_element(at).map_err(read)?;
                if vector.is_typedarray().unwrap_or(false) {
                    let values = Float32Array::from_unknown(vector);
                    return values.map(|values| values.to_vec()).map_err(|_| {
                        "embed gave a typed array that is no Float32Array".to_owned()
                    });
                }
                if !vector.is_array().unwrap_or(false) {
                    return Err(wrong(&vector, "a Float32Array or an array of numbers"));
                }
                Vec::<f64>::from_unknown(vector)
                    .map(|values| values.into_iter().map(|value| value as f32).collect())
                    .map_err(|_| "embed gave a vector with values that are no numbers".to_owned())
            })
            .collect()
    }
}

struct JsEmbedFunction(Arc<Asker<Embedding>>);

impl EmbedFunction for JsEmbedFunction {
    fn ask(&self, role: Role, texts: Vec<String>, reply: Reply) -> Stop {
        let number = self.0.ask((role, texts), reply);
        let asker = Arc::clone(&self.0);
        Box::new(move || asker.stop(number))
    }
}

/// The option `embedder` of `open`.
///
/// # Errors
/// It is not what it must be.
pub fn embedder(
    env: &Env,
    argument: &Argument<'_>,
    config: &Config,
) -> Result<Arc<dyn Embedder>, Failure> {
    const ID: &str = "embedder.id";
    const EMBED: &str = "embedder.embed";
    const DIMENSIONS: &str = "embedder.dimensions";
    const METERED: &str = "embedder.metered";
    let options = Options::read(argument, &[ID, EMBED, DIMENSIONS, METERED])?;
    let id = options
        .require(ID, "a name for the model")?
        .filled_text("a name for the model, another one for other vectors")?;
    let embed = options.require(EMBED, "a function")?;
    if embed.kind() != ValueType::Function {
        return Err(embed.wrong("a function"));
    }
    let dimensions = options
        .get(DIMENSIONS)?
        .map(|given| given.whole_number(&(1..=MAX_DIMENSIONS)))
        .transpose()?;
    let is_metered = options.get(METERED)?.map_or(Ok(false), |given| given.flag())?;
    let settings = &config.settings;
    let how = CallbackSettings {
        batch_size: settings.vector_db.batch_size,
        max_tokens: settings.vector_db.max_tokens,
        max_concurrent: settings.embedding.max_concurrent,
        timeout: settings.embedding.timeout,
        query_timeout: settings.embedding.query_timeout,
    };
    let function = JsEmbedFunction(Arc::new(Asker::new(env, "embed", embed.value())?));
    Ok(Arc::new(CallbackEmbedder::new(id, dimensions, is_metered, Arc::new(function), how)))
}

/// Messages to text.
struct Completing;

impl Crossing for Completing {
    type Question = Completion;
    type Answer = String;

    fn ask<'env>(env: &'env Env, completion: Completion) -> napi::Result<Unknown<'env>> {
        let mut messages = env.create_array(0)?;
        for message in completion.messages {
            let mut object = Object::new(env)?;
            let role = match message.role {
                rewrite::Role::System => "system",
                rewrite::Role::User => "user",
                rewrite::Role::Assistant => "assistant",
            };
            object.set_named_property("role", role)?;
            object.set_named_property("content", message.content)?;
            messages.insert(object)?;
        }
        let mut question = Object::new(env)?;
        question.set_named_property("messages", messages)?;
        question.set_named_property("maxTokens", completion.max_tokens as u32)?;
        question.set_named_property("stop", completion.stop)?;
        if let Some(temperature) = completion.temperature {
            question.set_named_property("temperature", f64::from(temperature))?;
        }
        let purpose = match completion.purpose {
            Purpose::Rephrase => "rephrase",
            Purpose::Intent => "intent",
        };
        question.set_named_property("purpose", purpose)?;
        Ok(question.to_unknown())
    }

    fn answer(_: &Env, value: Unknown<'_>) -> Result<String, String> {
        if value.get_type().ok() != Some(ValueType::String) {
            return Err(format!("complete gave {}; expected a string", describe(&value)));
        }
        String::from_unknown(value).map_err(|error| error.reason.clone())
    }
}

struct JsLanguageModel(Asker<Completing>);

impl fmt::Debug for JsLanguageModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JsLanguageModel")
    }
}

impl LanguageModel for JsLanguageModel {
    fn complete(&self, cancel: &CancelToken, request: &Completion) -> Result<String, ModelError> {
        let (sender, receiver) = mpsc::channel();
        let reply = Box::new(move |answer| {
            // Nobody listens any more once the time is up.
            let _ = sender.send(answer);
        });
        let number = self.0.ask(request.clone(), reply);
        loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(answer) => return answer.map_err(|reason| ModelError::Failed { reason }),
                Err(RecvTimeoutError::Timeout) if !cancel.is_cancelled() => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.0.stop(number);
                    return Err(ModelError::Cancelled);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "its function is gone".into();
                    return Err(ModelError::Failed { reason });
                }
            }
        }
    }
}

/// The option `languageModel` of `open`.
///
/// # Errors
/// It is not what it must be.
pub fn language_model(
    env: &Env,
    argument: &Argument<'_>,
) -> Result<Arc<dyn LanguageModel>, Failure> {
    const COMPLETE: &str = "languageModel.complete";
    let options = Options::read(argument, &[COMPLETE])?;
    let complete = options.require(COMPLETE, "a function")?;
    if complete.kind() != ValueType::Function {
        return Err(complete.wrong("a function"));
    }
    Ok(Arc::new(JsLanguageModel(Asker::new(env, "complete", complete.value())?)))
}
