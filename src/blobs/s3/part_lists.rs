//! The parts that a multipart upload has in the store.

use crate::blobs::UploadedPart;

/// Parses the parts in a response to `ListParts`.
pub(super) fn parse_part_list(xml: &str) -> Vec<UploadedPart> {
    let field = |part: &str, name: &str| {
        let (_, rest) = part.split_once(&format!("<{name}>"))?;
        let (text, _) = rest.split_once(&format!("</{name}>"))?;
        let quotes = ["&quot;", "&#34;", "&#x22;"];
        Some(quotes.iter().fold(text.to_owned(), |text, quote| text.replace(quote, "\"")))
    };
    let read = |part: &str| {
        Some(UploadedPart {
            part_number: field(part, "PartNumber")?.parse().ok()?,
            // Some stores leave out the entity tag in lists.
            etag: unquote(&field(part, "ETag").unwrap_or_default()),
            size_bytes: field(part, "Size")?.parse().ok()?,
        })
    };
    xml.split("<Part>").skip(1).filter_map(read).collect()
}

/// Returns an entity tag without its quotation marks.
pub(super) fn unquote(etag: &str) -> String {
    etag.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_lists_are_parsed() {
        let xml = "<ListPartsResult><UploadId>x</UploadId><Part><PartNumber>1</PartNumber>\
             <ETag>&quot;ab&quot;</ETag><Size>5</Size></Part><Part><Size>6</Size><ETag>&#34;cd&#34;</ETag>\
             <PartNumber>2</PartNumber></Part><Part></Part>\
             <Part><PartNumber>3</PartNumber><Size>7</Size></Part></ListPartsResult>";
        let part = |part_number, etag: &str, size_bytes| UploadedPart {
            part_number,
            etag: etag.to_owned(),
            size_bytes,
        };
        assert_eq!(parse_part_list(xml), [part(1, "ab", 5), part(2, "cd", 6), part(3, "", 7)]);
        assert_eq!(parse_part_list("garbage"), []);
    }
}
