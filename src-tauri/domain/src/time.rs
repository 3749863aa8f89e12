//! Moments. Inside the program a moment is `DateTime<Utc>`, in the file a count of milliseconds,
//! at every boundary RFC 3339 with `Z`. Nothing here asks what time it is.

use chrono::{DateTime, SecondsFormat, TimeZone, Utc};

/// A moment in UTC.
pub type Instant = DateTime<Utc>;

/// Milliseconds since 1970 (UTC) of a moment.
#[must_use]
pub fn to_millis(at: Instant) -> i64 {
    at.timestamp_millis()
}

/// The moment of a count of milliseconds since 1970 (UTC). Counts outside chrono's range, which
/// only a damaged file holds, become the epoch.
#[must_use]
pub fn from_millis(millis: i64) -> Instant {
    Utc.timestamp_millis_opt(millis).single().unwrap_or(DateTime::UNIX_EPOCH)
}

/// RFC 3339 with `Z`; milliseconds are written only when there are any.
#[must_use]
pub fn to_rfc3339(at: Instant) -> String {
    let digits =
        if at.timestamp_subsec_millis() == 0 { SecondsFormat::Secs } else { SecondsFormat::Millis };
    at.to_rfc3339_opts(digits, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millis_round_trip_and_z_form() {
        let at = from_millis(1_772_700_000_123);
        assert_eq!(to_millis(at), 1_772_700_000_123);
        assert_eq!(to_rfc3339(from_millis(0)), "1970-01-01T00:00:00Z");
        assert!(to_rfc3339(at).ends_with(".123Z"));
    }
}
