//! Numbers as people read them.

/// Returns a number with its thousands separated.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number and a noun, such as `1 codebase` and `2 codebases`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_of_something_is_singular() {
        for (number, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (2, "2 bytes"),
            (999, "999 bytes"),
            (1_000, "1,000 bytes"),
            (12_345_678, "12,345,678 bytes"),
        ] {
            assert_eq!(counted(number, "byte", "bytes"), expected);
        }
    }
}
