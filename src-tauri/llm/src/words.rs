//! Numbers and times as a person reads them. English, like everything the program says.

use std::time::Duration;

/// `40,960`.
#[must_use]
pub fn thousands(n: u32) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `0.8 s`.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// `50 s`, `4 min`.
pub(crate) fn duration(time: Duration) -> String {
    let secs = time.as_secs();
    if secs < 120 { format!("{secs} s") } else { format!("{} min", secs.div_ceil(60)) }
}

/// The number with all digits but the first made zero.
pub(crate) fn one_digit(n: u32) -> u32 {
    let unit = 10_u32.pow(n.checked_ilog10().unwrap_or(0));
    n / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_read_well() {
        let numbers = [0, 999, 8_192, 1_048_576].map(thousands);
        assert_eq!(numbers, ["0", "999", "8,192", "1,048,576"]);
        assert_eq!(seconds(Duration::from_millis(840)), "0.8 s");
        assert_eq!(duration(Duration::from_secs(50)), "50 s");
        assert_eq!(duration(Duration::from_secs(200)), "4 min");
        assert_eq!([0, 7, 61, 327].map(one_digit), [0, 7, 60, 300]);
    }
}
