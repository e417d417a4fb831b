//! Times of entries: Unix seconds to and from DOS time. Two conversions of a day do not need one more dependency.

/// 1980-01-01 00:00:00, the first moment that a DOS date can name, in Unix seconds.
pub const DOS_EPOCH: i64 = 315_532_800;
/// 2107-12-31 23:59:58, the last one.
const DOS_END: i64 = 4_354_819_198;
const DAY_S: i64 = 86_400;

/// A DOS time and date, as headers hold them: two-second steps, no time zone (this crate means UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DosDateTime {
    /// Bits 11 to 15: the hour, 5 to 10: the minute, 0 to 4: the second divided by two.
    pub time: u16,
    /// Bits 9 to 15: the year minus 1980, 5 to 8: the month from 1, 0 to 4: the day from 1.
    pub date: u16,
}

impl DosDateTime {
    /// The DOS form of a moment in Unix seconds, held to the years 1980 to 2107.
    pub fn from_unix(seconds: i64) -> Self {
        let seconds = seconds.clamp(DOS_EPOCH, DOS_END);
        let [year, month, day, hour, minute] = civil(seconds);
        let bits = |value: i64, shift: u32| u16::try_from(value << shift).unwrap_or(0);
        DosDateTime {
            time: bits(hour, 11) | bits(minute, 5) | bits(seconds % 60 / 2, 0),
            date: bits(year - 1980, 9) | bits(month, 5) | bits(day, 0),
        }
    }

    /// Unix seconds of this moment as UTC; a date that does not exist counts from the nearest one that does.
    pub fn to_unix(self) -> i64 {
        let field = |value: u16, shift: u32, mask: u16| i64::from((value >> shift) & mask);
        let month = field(self.date, 5, 0xf).clamp(1, 12);
        let day = field(self.date, 0, 0x1f).max(1);
        let days = days_from_civil(field(self.date, 9, 0x7f) + 1980, month, day);
        let (hour, minute, half) = (field(self.time, 11, 0x1f), field(self.time, 5, 0x3f), field(self.time, 0, 0x1f));
        days * DAY_S + hour * 3600 + minute * 60 + half * 2
    }
}

/// Year, month, day, hour and minute of a moment in Unix seconds, as UTC.
pub(crate) fn civil(seconds: i64) -> [i64; 5] {
    let (year, month, day) = civil_from_days(seconds.div_euclid(DAY_S));
    let minutes = seconds.rem_euclid(DAY_S) / 60;
    [year, month, day, minutes / 60, minutes % 60]
}

/// Year, month and day of a day counted from 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day is the last of
/// its year.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
