//! The date of HTTP headers (RFC 9110, IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`.

use std::time::{Duration, SystemTime};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The time that a header names, if it is one since 1970.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let (_, date) = text.trim().split_once(", ")?;
    let mut parts = date.split([' ', '-']);
    let day: u64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as u64 + 1;
    let year: u64 = parts.next()?.parse().ok()?;
    let mut clock = parts.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Days of the Gregorian calendar, by the rule for leap years; years begin in March, so that the leap day is last.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    // Days from the first of March of the year 0 to the first of January 1970.
    days - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, seconds: Option<u64>) {
        let expected = seconds.map(|s| SystemTime::UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(parse(text), expected, "{text}");
    }

    #[test]
    fn dates_of_headers_are_read() {
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777));
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000));
        check("Fri, 31 Dec 2100 23:59:59 GMT", Some(4_133_980_799));
        check("soon", None);
        check("Sun, 06 Foo 1994 08:49:37 GMT", None);
    }
}
