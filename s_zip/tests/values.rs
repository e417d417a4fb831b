//! What a name may be, and the two forms of a time.

use s_zip::NameFault;
use s_zip::name::{check, check_windows};
use s_zip::time::{DOS_EPOCH, DosDateTime};

#[test]
fn what_windows_takes_amiss_is_known_and_elsewhere_a_name_like_any_other() {
    for name in [
        "CON", "con.txt", "aux.t.gz", "a/nul", "nul /b", "COM1", "lpt9.log", "com¹", "CONIN$", "CON/", "ab:c", "1:",
        "...", "a..", "a/b.", "a /b", "..a /", "x?", "<a>", "a|b", "\"a\"", "a*", "a\tb",
    ] {
        assert_eq!(check_windows(name), Err(NameFault::Windows), "{name}");
        assert_eq!(check(name), Ok(()), "{name}");
    }
    for name in [
        "a", "a/b.txt", "folder/", "C", "..a", "ä/ö", "console", "com", "COM10", "lpt", "auxi", "con1/a", "a.con",
        ".a", "a b", "größe/", "nul_.txt",
    ] {
        assert_eq!(check_windows(name), Ok(()), "{name}");
        assert_eq!(check(name), Ok(()), "{name}");
    }
}

/// 2107-12-31 23:59:58, the last moment that a DOS date can name.
const DOS_END: i64 = 4_354_819_198;

#[test]
fn dates_before_1980_and_after_2107_are_held_to_the_range() {
    let first = DosDateTime { time: 0, date: (1 << 5) + 1 };
    assert_eq!(DosDateTime::from_unix(0), first);
    assert_eq!(DosDateTime::from_unix(i64::MIN), first);
    assert_eq!(DosDateTime::from_unix(DOS_EPOCH), first);
    assert_eq!(DosDateTime::from_unix(i64::MAX), DosDateTime::from_unix(DOS_END));
    assert_eq!(DosDateTime::from_unix(i64::MAX).to_unix(), DOS_END);
}

#[test]
fn every_even_second_comes_back() {
    for step in 0..40_000_i64 {
        let seconds = DOS_EPOCH + step * 100_978;
        assert_eq!(DosDateTime::from_unix(seconds).to_unix(), seconds - seconds % 2, "{seconds}");
    }
}

#[test]
fn dates_that_do_not_exist_do_not_panic() {
    for bits in 0..=u16::MAX {
        let _ = DosDateTime { time: bits, date: bits }.to_unix();
    }
}
