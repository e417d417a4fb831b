//! Names and comments as text.

/// The upper half of code page 437, which names without the UTF-8 flag are in. A crate would be one dependency more for this table alone.
const UPPER_437: [char; 128] = [
    'Ç', 'ü', 'é', 'â', 'ä', 'à', 'å', 'ç', 'ê', 'ë', 'è', 'ï', 'î', 'ì', 'Ä', 'Å', 'É', 'æ', 'Æ', 'ô', 'ö', 'ò', 'û',
    'ù', 'ÿ', 'Ö', 'Ü', '¢', '£', '¥', '₧', 'ƒ', 'á', 'í', 'ó', 'ú', 'ñ', 'Ñ', 'ª', 'º', '¿', '⌐', '¬', '½', '¼', '¡',
    '«', '»', '░', '▒', '▓', '│', '┤', '╡', '╢', '╖', '╕', '╣', '║', '╗', '╝', '╜', '╛', '┐', '└', '┴', '┬', '├', '─',
    '┼', '╞', '╟', '╚', '╔', '╩', '╦', '╠', '═', '╬', '╧', '╨', '╤', '╥', '╙', '╘', '╒', '╓', '╫', '╪', '┘', '┌', '█',
    '▄', '▌', '▐', '▀', 'α', 'ß', 'Γ', 'π', 'Σ', 'σ', 'µ', 'τ', 'Φ', 'Θ', 'Ω', 'δ', '∞', 'φ', 'ε', '∩', '≡', '±', '≥',
    '≤', '⌠', '⌡', '÷', '≈', '°', '∙', '·', '√', 'ⁿ', '²', '■', '\u{a0}',
];

/// Text as a header holds it; none if it is marked as UTF-8 and is not.
pub(super) fn decode(bytes: &[u8], utf8: bool) -> Option<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) if utf8 || bytes.is_ascii() => Some(text.to_owned()),
        Err(_) if utf8 => None,
        _ => Some(bytes.iter().map(|byte| decode_437(*byte)).collect()),
    }
}

fn decode_437(byte: u8) -> char {
    match byte.checked_sub(0x80) {
        Some(upper) => UPPER_437.get(usize::from(upper)).copied().unwrap_or(char::REPLACEMENT_CHARACTER),
        None => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_the_flag_are_in_code_page_437() {
        assert_eq!(decode(b"a\x84\x81\xe1\x9b\xff", false).as_deref(), Some("aäüß¢\u{a0}"));
        assert_eq!(decode("ä".as_bytes(), false).as_deref(), Some("├ñ"));
        assert_eq!(decode("ä".as_bytes(), true).as_deref(), Some("ä"));
        assert_eq!(decode(b"\x84", true), None);
    }

    #[test]
    fn different_bytes_are_different_text() {
        let all: std::collections::HashSet<char> = (0..=255).map(decode_437).collect();
        assert_eq!(all.len(), 256);
    }
}
