//! Is a request sent again, and when?
//!
//! In: an answer, the time, how often it was tried, and a random number. Out: a [`Verdict`], a wait. Pure.

use std::time::{Duration, SystemTime};

use super::{Note, Response, date};

/// Longest wait before a request is sent again, whatever the server asks for.
pub const MAX_DELAY: Duration = Duration::from_secs(60);
/// Wait after 408, where the server only lost patience.
const AFTER_TIMEOUT: Duration = Duration::from_millis(250);
/// A reset above this is a time since 1970, not a number of seconds.
const EPOCH_THRESHOLD_SECONDS: f64 = 1e8;

/// What an answer means for its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is an answer, good or bad.
    Final,
    /// Something broke; the same request may be answered later.
    Again,
    /// There were too many requests: later, and fewer.
    Limited,
}

/// What an answer means for its request, by status, headers and words.
#[must_use]
pub fn verdict(response: &Response) -> Verdict {
    match response.status {
        429 if says(response, &["insufficient_quota", "billing"]) => Verdict::Final,
        429 | 529 => Verdict::Limited,
        503 if response.header("retry-after").is_some() => Verdict::Limited,
        403 if is_rate_limit(response) => Verdict::Limited,
        408 | 425 | 500 | 502..=599 => Verdict::Again,
        _ => Verdict::Final,
    }
}

fn is_rate_limit(response: &Response) -> bool {
    response.header("retry-after").is_some()
        || response.header("x-ratelimit-remaining") == Some("0")
        || says(response, &["rate limit", "rate_limit", "ratelimit", "too many requests"])
}

/// Whether the body has one of the words, which are in lower case.
fn says(response: &Response, words: &[&str]) -> bool {
    let head = &response.body[..response.body.len().min(4096)];
    let text = String::from_utf8_lossy(head).to_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// How long the server asks to wait: `Retry-After` in seconds or as a date, milliseconds in `retry-after-ms`, a
/// `retryDelay` in the body, or the reset of its limit.
#[must_use]
pub fn asked_wait(response: &Response, now: SystemTime) -> Option<Duration> {
    let after_ms = || seconds(response.header("retry-after-ms")?.parse::<f64>().ok()? / 1000.0);
    let after = || {
        let value = response.header("retry-after")?;
        match value.parse::<f64>() {
            Ok(n) => seconds(n),
            Err(_) => Some(date::parse(value)?.duration_since(now).unwrap_or_default()),
        }
    };
    after_ms()
        .or_else(after)
        .or_else(|| retry_delay(&response.body))
        .or_else(|| reset(response, now))
}

/// `"retryDelay": "34s"`, as Google has it.
fn retry_delay(body: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(body.get(..body.len().min(16_384))?).ok()?;
    let (_, rest) = text.split_once("\"retryDelay\"")?;
    duration(rest.split('"').nth(1)?)
}

/// Until the limit of requests is reset.
fn reset(response: &Response, now: SystemTime) -> Option<Duration> {
    let names = ["x-ratelimit-reset-requests", "x-ratelimit-reset", "ratelimit-reset"];
    let value = names.iter().find_map(|name| response.header(name))?;
    let Ok(n) = value.parse::<f64>() else { return duration(value) };
    if n > EPOCH_THRESHOLD_SECONDS {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        return seconds((n - now).max(0.0));
    }
    seconds(n)
}

/// `1m30s`, `6s`, `20ms`, `1.5s`.
fn duration(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let end = unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
        total += number
            * match &unit[..end] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &unit[end..];
    }
    seconds(total)
}

fn seconds(n: f64) -> Option<Duration> {
    (n >= 0.0).then(|| Duration::from_secs_f64(n.min(1e6)))
}

/// How long to wait before try number `tries + 1`: as the server asks; else twice as long each time, from
/// `first` on, shortened at random by up to half (`jitter`, 0 to 1), so that many clients do not come back together.
#[must_use]
pub fn delay(
    response: Option<&Response>,
    now: SystemTime,
    tries: u32,
    first: Duration,
    jitter: f64,
) -> Duration {
    if let Some(wait) = response.and_then(|response| asked_wait(response, now)) {
        return wait.min(MAX_DELAY);
    }
    if response.is_some_and(|response| response.status == 408) {
        return AFTER_TIMEOUT;
    }
    let doubled = first.saturating_mul(1 << tries.saturating_sub(1).min(16));
    doubled.min(MAX_DELAY).mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0)
}

/// What an answer says about limits, apart from being refused.
#[must_use]
pub fn note(response: &Response, now: SystemTime) -> Note {
    let number = |name: &str| response.header(name)?.parse::<f64>().ok();
    let remaining = number("x-ratelimit-remaining-requests")
        .or_else(|| number("x-ratelimit-remaining"))
        .and_then(|left| Some((left as i64, reset(response, now)?)));
    Note { refused_for: None, remaining, quota_used: number("x-github-total-quota-used") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 784_111_777;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
    }

    fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Response { status, headers, body: body.into() }
    }

    #[test]
    fn what_is_asked_again_and_what_is_not() {
        let limited = [
            response(429, &[], ""),
            response(529, &[], ""),
            response(403, &[("retry-after", "1")], ""),
            response(403, &[("x-ratelimit-remaining", "0")], ""),
            response(403, &[], r#"{"message":"API Rate Limit exceeded"}"#),
            response(503, &[("retry-after", "1")], ""),
        ];
        for response in limited {
            assert_eq!(verdict(&response), Verdict::Limited, "{response:?}");
        }
        for status in [408, 500, 502, 503, 504] {
            assert_eq!(verdict(&response(status, &[], "")), Verdict::Again, "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 501] {
            assert_eq!(verdict(&response(status, &[], "")), Verdict::Final, "{status}");
        }
        let unpaid = response(429, &[], r#"{"error":{"code":"insufficient_quota"}}"#);
        assert_eq!(verdict(&unpaid), Verdict::Final, "waiting does not pay");
    }

    #[track_caller]
    fn check_wait(headers: &[(&str, &str)], body: &str, expected_ms: Option<u64>) {
        let wait = asked_wait(&response(429, headers, body), now());
        assert_eq!(wait, expected_ms.map(Duration::from_millis), "{headers:?}");
    }

    #[test]
    fn waits_are_read_in_every_form() {
        check_wait(&[("retry-after", "2")], "", Some(2000));
        check_wait(&[("retry-after", "0.5")], "", Some(500));
        check_wait(&[("retry-after-ms", "30"), ("retry-after", "2")], "", Some(30));
        check_wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")], "", Some(3000));
        check_wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT")], "", Some(0));
        check_wait(&[("x-ratelimit-reset", "7")], "", Some(7000));
        check_wait(&[("x-ratelimit-reset", &(NOW + 9).to_string())], "", Some(9000));
        check_wait(&[("x-ratelimit-reset-requests", "1m30s")], "", Some(90_000));
        check_wait(&[("x-ratelimit-reset-requests", "20ms")], "", Some(20));
        check_wait(&[], r#"{"error":{"details":[{"retryDelay": "34.5s"}]}}"#, Some(34_500));
        check_wait(&[("retry-after", "soon")], "", None);
        check_wait(&[("retry-after", "-1")], "", None);
    }

    #[test]
    fn waits_double_and_are_bounded() {
        let first = Duration::from_millis(500);
        let wait = |tries, jitter| delay(None, now(), tries, first, jitter).as_millis();
        assert_eq!([1, 2, 3, 4].map(|tries| wait(tries, 0.0)), [500, 1000, 2000, 4000]);
        assert_eq!(wait(1, 1.0), 250);
        assert_eq!(wait(40, 0.0), MAX_DELAY.as_millis());
        let long = response(429, &[("retry-after", "3600")], "");
        assert_eq!(delay(Some(&long), now(), 1, first, 0.0), MAX_DELAY);
        assert_eq!(delay(Some(&response(408, &[], "")), now(), 3, first, 0.0), AFTER_TIMEOUT);
    }

    #[test]
    fn announced_limits_are_read() {
        let headers = [("x-ratelimit-remaining", "3"), ("x-ratelimit-reset", "2")];
        let note = note(&response(200, &headers, ""), now());
        assert_eq!(note.remaining, Some((3, Duration::from_secs(2))));
        let headers = [("x-github-total-quota-used", "91.5")];
        assert_eq!(super::note(&response(200, &headers, ""), now()).quota_used, Some(91.5));
    }
}
