//! What a name may be, how it is shown, and the two forms of a time.

use s_zip::StreamingZipReader;
use s_zip::name::check;
use s_zip::time::{DOS_EPOCH, DosDateTime};

#[test]
fn what_only_windows_takes_amiss_is_a_name_like_any_other() {
    for name in ["CON", "aux.t.gz", "a/nul", "nul /b", "COM1", "CON/", "ab:c", "...", "a /b", "x?", "<a>", "a\tb"] {
        assert_eq!(check(name), Ok(()), "{name}");
    }
}

#[test]
fn what_acts_on_a_terminal_is_escaped_once_and_nothing_else() {
    let shown = |path: &str| StreamingZipReader::open(path).unwrap_err().to_string();
    for text in ["plain", "größe e\u{301} 日本", "it's \"quoted\" \\ \\\\ '", "\\u{1b}[31m", ""] {
        assert_eq!(shown(text), format!("cannot open {text}"));
    }
    for (text, escaped) in [
        ("\u{1b}[31m", "\\u{1b}[31m"),
        ("a\u{202e}b\u{2066}\u{200b}", "a\\u{202e}b\\u{2066}\\u{200b}"),
        ("'\r\n\t\u{9b}'", "'\\r\\n\\t\\u{9b}'"),
    ] {
        assert_eq!(shown(text), format!("cannot open {escaped}"));
        assert_eq!(shown(escaped), format!("cannot open {escaped}"));
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
