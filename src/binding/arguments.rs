//! Checks what JavaScript passes in. Every refusal names the argument, the value and what was expected.
//!
//! Nothing is coerced: a number is not a string, `null` is not nothing. Getters and proxies of the caller may throw;
//! what they throw is what the call rejects with.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{Env, JsString, JsValue, ValueType};

use super::failure::Failure;
use crate::config::keys::Value;

/// A list longer than this is a mistake.
const MAX_LIST: u32 = 10_000;

/// Characters of a value that a message shows.
const SHOWN_CHARS: usize = 60;

/// A value with the name a message calls it by.
pub struct Argument<'env> {
    env: &'env Env,
    name: Cow<'static, str>,
    value: Unknown<'env>,
}

/// An object of options; one that was left out has no fields.
pub struct Options<'env> {
    env: &'env Env,
    object: Option<Object<'env>>,
}

impl<'env> Options<'env> {
    /// Takes `value`, an object whose fields are all among `known`, or nothing.
    ///
    /// `known` holds the names that messages use, such as `config.ignore.exclude`; the field is what follows the last
    /// point.
    ///
    /// # Errors
    /// Something else, or a field that nobody will read.
    pub fn read(argument: &Argument<'env>, known: &[&'static str]) -> Result<Self, Failure> {
        let env = argument.env;
        match argument.kind() {
            ValueType::Undefined | ValueType::Null => return Ok(Self { env, object: None }),
            ValueType::Object if !argument.value.is_array().unwrap_or(false) => {}
            _ => return Err(argument.wrong("an object")),
        }
        let thrown = |error| Failure::thrown(env, error);
        let object = argument.value.coerce_to_object().map_err(thrown)?;
        for key in Object::keys(&object).map_err(thrown)? {
            if !known.iter().any(|name| field(name) == key) {
                let fields: Vec<_> = known.iter().map(|name| field(name)).collect();
                return Err(Failure::argument(
                    argument.name.clone(),
                    format!("an object with the field {}", shorten(&key)),
                    format!("no fields but {}", fields.join(", ")),
                ));
            }
        }
        Ok(Self { env, object: Some(object) })
    }

    /// The field that `name` ends in, unless it is missing or `undefined`.
    ///
    /// # Errors
    /// The caller's getter throws.
    pub fn get(&self, name: &'static str) -> Result<Option<Argument<'env>>, Failure> {
        let Some(object) = &self.object else { return Ok(None) };
        let value: Unknown<'env> = object
            .get_named_property(field(name))
            .map_err(|error| Failure::thrown(self.env, error))?;
        let argument = Argument { env: self.env, name: Cow::Borrowed(name), value };
        Ok((argument.kind() != ValueType::Undefined).then_some(argument))
    }

    /// The field that `name` ends in.
    ///
    /// # Errors
    /// It is missing, or the caller's getter throws.
    pub fn require(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Argument<'env>, Failure> {
        self.get(name)?.ok_or_else(|| Failure::argument(name, "missing".to_owned(), expected))
    }
}

impl<'env> Argument<'env> {
    /// A positional argument.
    pub fn new(env: &'env Env, name: &'static str, value: Unknown<'env>) -> Self {
        Self { env, name: Cow::Borrowed(name), value }
    }

    /// The name a message calls it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of an object, each with this argument's name before its own; those that are `undefined` are left out.
    ///
    /// # Errors
    /// Something else than an object, or the caller's getter throws.
    pub fn fields(&self) -> Result<Vec<(String, Self)>, Failure> {
        if self.kind() != ValueType::Object || self.value.is_array().unwrap_or(false) {
            return Err(self.wrong("an object"));
        }
        let thrown = |error| Failure::thrown(self.env, error);
        let object = self.value.coerce_to_object().map_err(thrown)?;
        let mut fields = Vec::new();
        for key in Object::keys(&object).map_err(thrown)? {
            let value: Unknown<'env> = object.get_named_property(&key).map_err(thrown)?;
            let name = Cow::Owned(format!("{}.{key}", self.name));
            let argument = Self { env: self.env, name, value };
            if argument.kind() != ValueType::Undefined {
                fields.push((key, argument));
            }
        }
        Ok(fields)
    }

    /// A flag, a number or a string as the value of a setting; `None` for anything else.
    ///
    /// # Errors
    /// The caller's JavaScript throws.
    pub fn setting(&self) -> Result<Option<Value>, Failure> {
        Ok(match self.kind() {
            ValueType::Boolean => Some(Value::Flag(self.flag()?)),
            ValueType::Number => self.number()?.map(Value::Number),
            ValueType::String => Some(Value::Text(self.text()?)),
            _ => None,
        })
    }

    /// The value itself.
    pub fn value(&self) -> Unknown<'env> {
        self.value
    }

    /// The type of the value.
    pub fn kind(&self) -> ValueType {
        self.value.get_type().unwrap_or(ValueType::Unknown)
    }

    /// The refusal.
    pub fn wrong(&self, expected: impl Into<String>) -> Failure {
        Failure::argument(self.name.clone(), describe(&self.value), expected)
    }

    /// A string. Halves of surrogate pairs become U+FFFD.
    ///
    /// # Errors
    /// Something else.
    pub fn text(&self) -> Result<String, Failure> {
        if self.kind() != ValueType::String {
            return Err(self.wrong("a string"));
        }
        string(&self.value).map_err(|error| Failure::thrown(self.env, error))
    }

    /// A string that is not empty.
    ///
    /// # Errors
    /// Something else.
    pub fn filled_text(&self, expected: &'static str) -> Result<String, Failure> {
        if self.kind() != ValueType::String {
            return Err(self.wrong(expected));
        }
        let text = self.text()?;
        if text.is_empty() { Err(self.wrong(expected)) } else { Ok(text) }
    }

    /// An array of strings.
    ///
    /// # Errors
    /// Something else.
    pub fn texts(&self) -> Result<Vec<String>, Failure> {
        const EXPECTED: &str = "an array of strings";
        let thrown = |error| Failure::thrown(self.env, error);
        if !self.value.is_array().unwrap_or(false) {
            return Err(self.wrong(EXPECTED));
        }
        let array = self.value.coerce_to_object().map_err(thrown)?;
        let length = array.get_array_length().map_err(thrown)?;
        if length > MAX_LIST {
            return Err(Failure::argument(
                self.name.clone(),
                format!("an array of {length} entries"),
                format!("at most {MAX_LIST} entries"),
            ));
        }
        (0..length)
            .map(|index| {
                let entry: Unknown<'_> = array.get_element(index).map_err(thrown)?;
                if entry.get_type().ok() != Some(ValueType::String) {
                    let value = format!("an array whose entry {index} is {}", describe(&entry));
                    return Err(Failure::argument(self.name.clone(), value, EXPECTED));
                }
                string(&entry).map_err(thrown)
            })
            .collect()
    }

    /// The entries of an array.
    ///
    /// # Errors
    /// Something else.
    pub fn entries(&self, expected: &'static str) -> Result<Vec<Self>, Failure> {
        let thrown = |error| Failure::thrown(self.env, error);
        if !self.value.is_array().unwrap_or(false) {
            return Err(self.wrong(expected));
        }
        let array = self.value.coerce_to_object().map_err(thrown)?;
        let length = array.get_array_length().map_err(thrown)?;
        if length > MAX_LIST {
            let value = format!("an array of {length} entries");
            let expected = format!("at most {MAX_LIST} entries");
            return Err(Failure::argument(self.name.clone(), value, expected));
        }
        (0..length)
            .map(|index| {
                let value: Unknown<'env> = array.get_element(index).map_err(thrown)?;
                let name = Cow::Owned(format!("{}[{index}]", self.name));
                Ok(Self { env: self.env, name, value })
            })
            .collect()
    }

    /// A whole number in `range`.
    ///
    /// # Errors
    /// Something else.
    pub fn whole_number(&self, range: &RangeInclusive<u32>) -> Result<usize, Failure> {
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        match self.number()? {
            Some(number)
                if number.fract() == 0.0
                    && (f64::from(*range.start())..=f64::from(*range.end())).contains(&number) =>
            {
                // In the range of a u32 and without a fraction, as just seen.
                Ok(number as usize)
            }
            _ => Err(self.wrong(expected())),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// Something else.
    #[cfg_attr(
        test,
        allow(dead_code, reason = "asked for by a free function, which tests have none of")
    )]
    pub fn real(&self) -> Result<f64, Failure> {
        self.number()?.ok_or_else(|| self.wrong("a number"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Something else.
    pub fn flag(&self) -> Result<bool, Failure> {
        if self.kind() != ValueType::Boolean {
            return Err(self.wrong("true or false"));
        }
        self.value.coerce_to_bool().map_err(|error| Failure::thrown(self.env, error))
    }

    /// The value that goes by one of these names.
    ///
    /// # Errors
    /// Something else.
    pub fn one_of<T: Copy>(&self, names: &[(&str, T)]) -> Result<T, Failure> {
        let expected = || {
            let names: Vec<_> = names.iter().map(|(name, _)| *name).collect();
            format!("one of {}", names.join(", "))
        };
        if self.kind() != ValueType::String {
            return Err(self.wrong(expected()));
        }
        let text = self.text()?;
        let found = names.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| self.wrong(expected()))
    }

    fn number(&self) -> Result<Option<f64>, Failure> {
        if self.kind() != ValueType::Number {
            return Ok(None);
        }
        let number = self.value.coerce_to_number().and_then(|number| number.get_double());
        number.map(Some).map_err(|error| Failure::thrown(self.env, error))
    }
}

/// The field that a name such as `config.ignore.exclude` ends in.
fn field(name: &'static str) -> &'static str {
    name.rsplit_once('.').map_or(name, |(_, field)| field)
}

/// `value`, which is a string.
fn string(value: &Unknown<'_>) -> napi::Result<String> {
    let bytes = JsString::from_unknown(*value)?.into_utf8()?.take();
    // Node replaces lone surrogates itself; this does not rely on it.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// What a message says about a value. Runs none of the caller's code.
pub fn describe(value: &Unknown<'_>) -> String {
    match value.get_type().unwrap_or(ValueType::Unknown) {
        ValueType::Undefined => "undefined".to_owned(),
        ValueType::Null => "null".to_owned(),
        ValueType::Boolean => value.coerce_to_bool().map_or("a boolean".into(), |v| v.to_string()),
        ValueType::Number => value
            .coerce_to_number()
            .and_then(|number| number.get_double())
            .map_or("a number".into(), spell_number),
        ValueType::String => string(value).map_or("a string".into(), |text| shorten(&text)),
        ValueType::Symbol => "a symbol".to_owned(),
        ValueType::Function => "a function".to_owned(),
        ValueType::BigInt => "a bigint".to_owned(),
        ValueType::Object if value.is_array().unwrap_or(false) => "an array".to_owned(),
        ValueType::Object => "an object".to_owned(),
        _ => "a value of an unknown type".to_owned(),
    }
}

/// A number as JavaScript spells it.
fn spell_number(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    number.to_string()
}

/// `text` in quotes, its control characters escaped, its end cut off where it is long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_a_character() {
        assert_eq!(shorten("a\nb"), r#""a\nb""#);
        let long = "ü".repeat(61);
        assert_eq!(shorten(&long), format!("\"{}\"...", "ü".repeat(60)));
        assert_eq!(shorten(&long[2..]), format!("\"{}\"", "ü".repeat(60)));
    }

    #[test]
    fn a_field_is_what_follows_the_last_point() {
        assert_eq!(field("config.ignore.exclude"), "exclude");
        assert_eq!(field("limit"), "limit");
    }
}
