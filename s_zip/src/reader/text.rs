//! Names and comments as text.

/// The upper half of code page 437, which the format means by bytes without the UTF-8 flag. A crate would be one dependency more for this table alone.
const UPPER_437: [char; 128] = [
    'Ç', 'ü', 'é', 'â', 'ä', 'à', 'å', 'ç', 'ê', 'ë', 'è', 'ï', 'î', 'ì', 'Ä', 'Å', 'É', 'æ', 'Æ', 'ô', 'ö', 'ò', 'û',
    'ù', 'ÿ', 'Ö', 'Ü', '¢', '£', '¥', '₧', 'ƒ', 'á', 'í', 'ó', 'ú', 'ñ', 'Ñ', 'ª', 'º', '¿', '⌐', '¬', '½', '¼', '¡',
    '«', '»', '░', '▒', '▓', '│', '┤', '╡', '╢', '╖', '╕', '╣', '║', '╗', '╝', '╜', '╛', '┐', '└', '┴', '┬', '├', '─',
    '┼', '╞', '╟', '╚', '╔', '╩', '╦', '╠', '═', '╬', '╧', '╨', '╤', '╥', '╙', '╘', '╒', '╓', '╫', '╪', '┘', '┌', '█',
    '▄', '▌', '▐', '▀', 'α', 'ß', 'Γ', 'π', 'Σ', 'σ', 'µ', 'τ', 'Φ', 'Θ', 'Ω', 'δ', '∞', 'φ', 'ε', '∩', '≡', '±', '≥',
    '≤', '⌠', '⌡', '÷', '≈', '°', '∙', '·', '√', 'ⁿ', '²', '■', '\u{a0}',
];

/// Text as a header holds it, and whether it is what the header says that it is: bytes that are marked as UTF-8 and are not become
/// replacement characters. Programs on Unix write the bytes that they find, which are UTF-8 today, and do not mark them.
pub(super) fn decode(bytes: &[u8], utf8: bool, made_on_unix: bool) -> (String, bool) {
    let (mut text, is_text): (String, bool) = match std::str::from_utf8(bytes) {
        Ok(text) if utf8 || made_on_unix || bytes.is_ascii() => (text.to_owned(), true),
        Err(_) if utf8 => (String::from_utf8_lossy(bytes).into_owned(), false),
        _ => (bytes.iter().map(|byte| decode_437(*byte)).collect(), true),
    };
    // There may be a million of them.
    text.shrink_to_fit();
    (text, is_text)
}

fn decode_437(byte: u8) -> char {
    if byte.is_ascii() { char::from(byte) } else { UPPER_437[usize::from(byte - 0x80)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_the_flag_are_in_code_page_437() {
        for unix in [false, true] {
            assert_eq!(decode(b"a\x84\x81\xe1\x9b\xff", false, unix), ("aäüß¢\u{a0}".to_owned(), true));
            assert_eq!(decode("ä".as_bytes(), true, unix), ("ä".to_owned(), true));
            assert_eq!(decode(b"a\x84", true, unix), ("a\u{fffd}".to_owned(), false));
        }
        assert_eq!(decode("ä".as_bytes(), false, false), ("├ñ".to_owned(), true));
        assert_eq!(decode("ä".as_bytes(), false, true), ("ä".to_owned(), true));
    }

    #[test]
    fn different_bytes_are_different_text() {
        let all: std::collections::HashSet<char> = (0..=255).map(decode_437).collect();
        assert_eq!(all.len(), 256);
    }
}
